/** The turns of the commands about the thread itself: create, patch, copy, edit, delete, expire. */

import type { Turn } from '../../../cluster/index.ts'
import type { AppliedCommand } from '../../../proto/gen/storage/v1/row.ts'
import { decodeRow } from '../../checkpoint/index.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import { appliedRecords, findApplied } from '../../owned-row/index.ts'
import { HeddleError } from '../../errors.ts'
import { objectIn } from '../../json/index.ts'
import { isExpired, matchesMetadata, requireShort } from '../../search/index.ts'
import type { MetadataFilter } from '../../search/index.ts'
import { cautiousNowMs } from '../context/thread-context.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { deploymentOf, graphOf, presentHost } from '../context/thread-graphs.ts'
import { decideKeepLatest } from '../decide/history.ts'
import { decideFirstState, decideUpdate, editAnswer,
  newestCheckpoint } from '../decide/state-edit.ts'
import { decideAdopt, decideCreate, decideDelete, decideExpiry, decidePatch,
  threadNotFound } from '../decide/thread.ts'
import { mayBeKept } from '../decide/thread-records.ts'
import { decideOwed, decideSettled } from '../decide/owed.ts'
import type { Settled } from '../decide/owed.ts'
import type { CopyPlace, Origin, ThreadCommand } from '../model/command.ts'
import type { CreateThread, StateUpdate, ThreadPatch } from '../model/thread-client.ts'
import { originAt, originOf } from '../model/origin.ts'
import { fromOrigin } from '../model/thread-state.ts'
import { isBusy } from '../model/waiting-message.ts'
import { discard, perform, turn } from './perform.ts'
import type { Decide } from './perform.ts'
import { removeTracesOf } from './purge.ts'
import type { ThreadParts } from './thread-parts.ts'

/** Creates the thread. Throws `exists`, `unavailable` while another makes it, or `invalid`. */
export function create(parts: ThreadParts, request: CreateThread, note: readonly RecordOf[]): Turn {
  const { context, context: { ports: { env, defaultTimeToLive }, tenant }, queries, slot } = parts
  const { threadId, ifExists, supersteps, metadata } = request
  if (isStillThere(parts)) {
    if (ifExists === 'do_nothing') return { reply: queries.view() }
    throw new HeddleError('exists', `Thread ${threadId} already exists.`)
  }
  requireNotInTheMaking(parts, ifExists)
  // Throws if the settings of the deployment are not known, so it comes before any change.
  const { timeToLive = defaultTimeToLive?.(tenant) } = request
  renewIfDeleted(parts)
  if (request.isNewId) context.threadLog.noteNewId()
  const options = timeToLive && { timeToLive }
  if (supersteps.length === 0) {
    return turn(parts, (at, nowMs) => decideCreate(at, { metadata, ...options, note }, nowMs))
  }
  const host = presentHost(context)
  const hasGraph = (graphId: string) => host.describe(graphId) !== undefined
  const made = slot.edit(
    decideFirstState({ ...request, ...options }, { note, hasGraph }, env.nowMs()),
  )
  return { reply: made.then(() => queries.view()) }
}

/** Merges metadata, and begins a time to live. */
export function patch(parts: ThreadParts, change: ThreadPatch, note: readonly RecordOf[]): Turn {
  return turn(parts, (at, nowMs) => decidePatch(at, { ...change, note }, nowMs))
}

/** Edits the state outside a run. Throws `busy`, `full`, `invalid` or `not_found`. */
export async function edit({ context, slot }: ThreadParts, update: StateUpdate,
  note: readonly RecordOf[]): Promise<Turn> {
  const { threadLog } = context
  const asked = decideUpdate(threadLog, update, note)
  if (deploymentOf(context) && !graphOf(context)) {
    throw new HeddleError('graph_failed',
      'The graph of this thread is in no revision that can be loaded: activate one that has it.')
  }
  const { checkpoint } = update
  const id = checkpoint?.checkpointId ?? null
  if (id !== null) await threadLog.requireCheckpoint(checkpoint?.checkpointNs ?? '', id)
  return { reply: slot.edit(asked) }
}

/** The response to an edit that was made before. */
export async function edited({ context: { threadLog, threadId } }: ThreadParts,
  { checkpoint: selector }: StateUpdate, applied: AppliedCommand): Promise<JsonText> {
  const records = await threadLog.recordsAt(applied.seq)
  const end = records.findIndex((record) =>
    record.$case === 'commandApplied' && record.value.commandId === applied.id
  )
  const id = newestCheckpoint(records.slice(0, end)) ?? null
  return editAnswer({ threadId, selector, id })
}

/**
 * Deletes the thread with that log, or whatever log it has. Who names the log has asked for it: the
 * traces of a stateless run go then as well.
 */
export function deleteThread(parts: ThreadParts, branchId: string | undefined,
  note: readonly RecordOf[]): Turn | Promise<Turn> {
  const decide: Decide = (at, nowMs) => decideDelete(at, { branchId, note }, nowMs)
  const { hidden } = parts.context.threadLog.state.row
  if (!hidden || branchId === undefined) return deletion(parts, decide)
  return removeAllTraces(parts).then(() => deletion(parts, decide))
}

async function removeAllTraces(
  { context: { ports, tenant, threadId, threadLog } }: ThreadParts,
): Promise<void> {
  await threadLog.durable
  await removeTracesOf(ports, tenant, threadId, true)
}

function deletion(parts: ThreadParts, decide: Decide): Turn {
  if (isOverUnwritten(parts)) return discard(parts, decide)
  parts.context.threadLog.keep().catch(() => {})
  return turn(parts, decide)
}

/** True if the thread was never written, and nothing of it is under way. */
function isOverUnwritten(
  { context: { threadLog: { isHeldBack, state } }, feeds }: ThreadParts,
): boolean {
  return isHeldBack && state.runs.length === 0 && !feeds.followed
}

/** The copy is made within this turn, so that the source cannot be deleted meanwhile. */
export async function copy({ context }: ThreadParts,
  { targetId, at, metadataJson }: ThreadCommand & { type: 'copy' }): Promise<Turn> {
  const { threadLog, tenant, ports } = context
  await threadLog.durable
  const whole = originOf(threadLog.state, threadLog.storedBytes)
  const isOlder = at !== undefined && at.checkpointId !== whole.head?.id
  const copied = isOlder ? await olderOrigin(context, whole, at) : whole
  if (metadataJson !== undefined) requireShort(metadataJson, copied.metadataJson)
  const origin = metadataJson === undefined ? copied : { ...copied, metadataJson }
  const command: ThreadCommand = { type: 'adopt', origin }
  return { reply: await ports.ask({ kind: 'thread', tenant, id: targetId }, command) }
}

/** Sent by the origin's owner, perhaps twice: the same origin is copied to an id only once. */
export function adopt(parts: ThreadParts, origin: Origin): Turn {
  const { context: { threadLog, tenant, threadId, ports }, purge } = parts
  if (isStillThere(parts)) {
    if (findApplied(threadLog.state.applied, origin.threadId)) {
      return { reply: parts.queries.view() }
    }
    throw new HeddleError('exists', 'A copy needs an id of its own.')
  }
  const timeToLive = ports.defaultTimeToLive?.(tenant)
  const isNewId = threadLog.state.row.seq === 0
  renewIfDeleted(parts)
  const branchId = ports.log.newBranchId()
  threadLog.begin(fromOrigin({ tenant, threadId, branchId }, origin), purge.lastTry)
  // The command that copies makes the id: nobody else knows it yet.
  if (isNewId) threadLog.noteNewId()
  const note = appliedRecords(origin.threadId, ports.env.nowMs())
  return turn(parts, (at, nowMs) => decideAdopt(at, { origin, timeToLive, note }, nowMs))
}

/** The time of a stateless run's thread is up. One that was never written is only forgotten. */
export function expire(parts: ThreadParts): Turn {
  if (isOverUnwritten(parts) && !mayBeKept(parts.context.threadLog.state.row)) {
    return discard(parts, (at, nowMs) => decideDelete(at, { note: [] }, nowMs))
  }
  return turn(parts, (at, nowMs) => decideExpiry(at, parts.feeds.followed, nowMs))
}

/** A webhook was delivered or given up: a thread that only waited for it goes. */
export function settled(parts: ThreadParts, how: Settled): Turn {
  const noted = turn(parts, (at, nowMs) => decideSettled(at, how, nowMs))
  return parts.retention.isDue ? expire(parts) : noted
}

/** Calls the webhooks that are owed, and no others. */
export function callWebhooks(parts: ThreadParts): void {
  const { limits } = parts.context.ports
  void perform(parts, (at, nowMs) => decideOwed(at, limits.owedWebhooks, nowMs))
}

/** The time to live of the thread may have ended: then it goes, unless it is in use. */
export function due(parts: ThreadParts): Turn {
  const { context, slot, expiry } = parts
  const { atMs } = expiry
  const waits = slot.isEditing && !isDeletedAtEnd(parts)
  if (atMs > 0 && !waits && cautiousNowMs(context) >= atMs) return endOfLife(parts)
  expiry.again()
  return { reply: undefined }
}

/** Refuses the edits of a thread whose time has ended: it must not come back by them. */
export function refuseLateEdits(parts: ThreadParts): boolean {
  const { context: { threadLog, threadId }, slot } = parts
  if (!threadLog.state.exists || isThere(parts)) return false
  slot.release(threadNotFound(threadId))
  return true
}

function isDeletedAtEnd({ context: { threadLog: { state } } }: ThreadParts): boolean {
  return state.row.timeToLive?.strategy !== 'keep_latest'
}

function endOfLife(parts: ThreadParts): Turn {
  const decide = isDeletedAtEnd(parts) ? decideDelete : decideKeepLatest
  return turn(parts, (at, nowMs) => decide(at, { note: [] }, nowMs))
}

/** A thread that was deleted, or whose time has ended, begins a new log. */
export function renewIfDeleted(parts: ThreadParts): void {
  const { context: { threadLog }, purge } = parts
  if (threadLog.state.exists) Promise.resolve(endOfLife(parts).reply).catch(() => {})
  if (threadLog.state.row.seq > 0) threadLog.renew(purge.lastTry)
}

/** True if the thread exists, and its time to live has not ended by the clock of the machine. */
export function isThere({ context: { threadLog: { state }, ports: { env } } }: ThreadParts,
  nowMs = env.nowMs()): boolean {
  return state.exists && !isExpired(state.row, isBusy(state), nowMs)
}

/**
 * True if the thread exists and may not be deleted yet. If the clock of the machine is ahead, that
 * includes a thread that is hidden because its time has ended by that clock.
 */
export function isStillThere(parts: ThreadParts): boolean {
  return isThere(parts, cautiousNowMs(parts.context))
}

/** A thread with supersteps exists once these are written: until then others have to retry. */
export function requireNotInTheMaking({ context: { threadId }, slot }: ThreadParts,
  ifExists: CreateThread['ifExists']): void {
  if (!slot.isEditing) return
  const code = ifExists === 'raise' ? 'exists' : 'unavailable'
  throw new HeddleError(code, `Thread ${threadId} is being created already.`)
}

/** Throws `not_found` for a thread that does not match the filter of its caller. */
export function requireSeen({ context: { threadLog: { state: { row } }, threadId } }: ThreadParts,
  allowed: MetadataFilter | undefined): void {
  if (allowed === undefined || matchesMetadata(allowed, objectIn(row.metadataJson))) return
  throw threadNotFound(threadId)
}

/** Throws `not_found` for a thread that does not exist. */
export function requireExist(parts: ThreadParts): void {
  if (!isThere(parts)) throw threadNotFound(parts.context.threadId)
}

/** Throws `not_found` for a checkpoint that is not part of the root's history. */
async function olderOrigin({ threadLog, ports: { log } }: ThreadContext, origin: Origin,
  { checkpointId, waiting }: CopyPlace): Promise<Origin> {
  await threadLog.requireCheckpoint('', checkpointId)
  const place = await log.findCheckpoint(origin.branch, checkpointId)
  const [row] = place ? await log.read(origin.branch, { from: place.seq, through: place.seq }) : []
  if (!place || !row) {
    throw new HeddleError('not_found', `Checkpoint ${checkpointId} not found on this thread.`)
  }
  const last = decodeRow(row.body).at(-1)
  const isLast = last?.$case === 'checkpoint' && last.value.id === checkpointId
  return originAt(origin, { place, epoch: row.epoch, isLast, waiting })
}
