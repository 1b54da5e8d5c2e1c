/** A cron as a value: how it is made, changed, fired and stopped. Pure. */

import type { CronSaved } from '../../proto/gen/storage/v1/log.ts'
import type { Branch, CronRow } from '../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../checkpoint/index.ts'
import { objectIn } from '../json/index.ts'
import { requireShort } from '../search/index.ts'
import { gapsAfterFiring, gapsAfterSaving, isInGap, nextInGaps } from './gaps.ts'
import { latestDueMs, nextDueMs } from './schedule.ts'

/** Fate of the own thread of a run when the run is done. */
export type OnRunCompleted = 'delete' | 'keep'

/** Fields that a caller sets of a new cron. */
export interface CronContent {
  readonly assistantId: string
  /** Empty if each run has a thread of its own. */
  readonly threadId: string
  readonly schedule: string
  /** Empty for UTC. */
  readonly timezone: string
  /** 0 for no end. */
  readonly endTimeMs: number
  readonly enabled: boolean
  readonly onRunCompleted: OnRunCompleted
  readonly metadataJson: string
  /** The body of its runs without metadata, an object. */
  readonly payloadJson: string
  /** Empty if unknown. */
  readonly userId: string
}

/** A change of the content. What is absent stays as it is. Both JSON objects merge shallowly. */
export type CronChange = Partial<Omit<CronContent, 'assistantId' | 'threadId'>>

/**
 * The member of a payload with the user for whom a cron runs. It is the first one: versions before
 * do not find it elsewhere.
 */
export const cronUserMember = 'langgraph_auth_user'

/** Fields of a cron that never change. */
export interface CronIdentity {
  readonly tenant: string
  readonly cronId: string
  readonly branch: Branch
}

/** A cron before its first record. */
export function unborn(identity: CronIdentity): CronRow {
  return { ...identity, epoch: 0, seq: 0, createdAtMs: 0, updatedAtMs: 0, assistantId: '',
    threadId: '', schedule: '', timezone: '', endTimeMs: 0, enabled: false, onRunCompleted: '',
    metadataJson: '', payloadJson: '', userId: '', nextMs: 0, wakeMs: 0, firedMs: 0, refusedMs: 0,
    refusedSinceMs: 0, applied: [], storedBytes: 0, gaps: [], lastMs: 0, lastRunId: '',
    lastReason: '' }
}

/** Record that makes a new cron. */
export function createdRecord(cronId: string, content: CronContent, nowMs: number): RecordOf {
  return savedRecord({ ...content, cronId, atMs: nowMs, nextMs: nextOf(content, nowMs) })
}

/**
 * Changes a cron. A due time that has passed is settled no more if the times change. Throws
 * `invalid` if the metadata gets too long.
 */
export function changedRecord(row: CronRow, change: CronChange, nowMs: number): RecordOf {
  const { metadataJson, payloadJson, ...others } = change
  const next = { ...contentOf(row), ...others, metadataJson: merged(row.metadataJson, metadataJson),
    payloadJson: withUserFirst(merged(row.payloadJson, payloadJson)) }
  requireShort(next.metadataJson, row.metadataJson)
  const isMoved = (['schedule', 'timezone', 'endTimeMs', 'enabled'] as const)
    .some((name) => change[name] !== undefined && change[name] !== row[name])
  const nextMs = isMoved ? firstOpen({ ...row, ...next }, nowMs) : row.nextMs
  return savedRecord({ ...next, cronId: row.cronId, atMs: nowMs, nextMs })
}

/** Record of a run that was made now, at no due time. */
export function triggeredRecord(runId: string, nowMs: number): RecordOf {
  return { $case: 'cronTriggered', value: { runId, atMs: nowMs } }
}

/** True if a due time fires no more. */
export function isSettled(row: CronRow, dueMs: number): boolean {
  const { nextMs, firedMs } = row
  return nextMs === 0 || nextMs > dueMs || dueMs <= firedMs && !isInGap(row, dueMs)
}

/**
 * fire  this due time is to be fired now; of several that were missed it is the latest
 * move  the clock was ahead and is not any more: the row is changed by that record
 * rest  nothing is to be done now
 */
export type Look =
  | { readonly kind: 'fire'; readonly dueMs: number }
  | { readonly kind: 'move'; readonly record: RecordOf }
  | { readonly kind: 'rest' }

/** Action of a cron at a time. */
export function lookAt(row: CronRow, nowMs: number): Look {
  const { nextMs, refusedSinceMs, endTimeMs } = row
  if (!row.enabled) return { kind: 'rest' }
  const isRefusedAhead = refusedSinceMs > nowMs
  const wakeMs = isRefusedAhead ? nextMs : row.wakeMs
  if (wakeMs > 0 && wakeMs <= nowMs && nextMs <= nowMs) {
    const endMs = endTimeMs === 0 ? nowMs : Math.min(nowMs, endTimeMs)
    const dueMs = latestDueMs(row, nextMs, endMs)
    if (isOpen(row, dueMs)) return { kind: 'fire', dueMs }
    return { kind: 'move', record: movedRecord(row, firstOpen(row, nowMs)) }
  }
  const backMs = openInGaps(row, nowMs)
  if (backMs > 0 && (nextMs === 0 || backMs < nextMs)) {
    return { kind: 'move', record: movedRecord(row, backMs) }
  }
  if (!isRefusedAhead) return { kind: 'rest' }
  return { kind: 'move',
    record: { $case: 'cronPostponed', value: { dueMs: 0, sinceMs: 0, untilMs: nextMs } } }
}

/** The first due time after one that was settled just now; 0 for none. */
export function nextAfter(row: CronRow, dueMs: number): number {
  const after = { ...row, gaps: gapsAfterFiring(row, dueMs) }
  // A change meanwhile may have found the next due time already.
  const lastMs = Math.max(dueMs, row.firedMs)
  const newMs = row.nextMs > lastMs ? row.nextMs : nextOf(row, lastMs)
  return earlier(newMs, openInGaps(after, dueMs))
}

/** The first due time after `nowMs` that is not settled, also if the clock has gone back. */
function firstOpen(row: CronRow, nowMs: number): number {
  return earlier(nextOf(row, Math.max(nowMs, row.firedMs)), openInGaps(row, nowMs))
}

/** The first due time after `afterMs` that the clock has shown already, and that may fire yet. */
function openInGaps(row: CronRow, afterMs: number): number {
  if (!row.enabled) return 0
  const dueMs = nextInGaps(row, afterMs)
  return row.endTimeMs > 0 && dueMs > row.endTimeMs ? 0 : dueMs
}

function isOpen(row: CronRow, dueMs: number): boolean {
  return dueMs > row.firedMs || isInGap(row, dueMs)
}

/** The earlier one of two times, of which 0 means none. */
function earlier(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other)
}

/** The first due time after `afterMs` that has not been settled; 0 for none. */
function nextOf(
  content: Pick<CronRow, 'schedule' | 'timezone' | 'endTimeMs' | 'enabled'>,
  afterMs: number,
): number {
  if (!content.enabled) return 0
  const nextMs = nextDueMs(content, afterMs)
  return content.endTimeMs > 0 && nextMs > content.endTimeMs ? 0 : nextMs
}

/** The row after a record. The writer sets its log position. */
export function afterRecord(row: CronRow, record: RecordOf): CronRow {
  switch (record.$case) {
    case 'cronSaved':
      return saved(row, record.value)
    case 'cronFired': {
      const { dueMs, nextMs } = record.value
      return { ...row, gaps: gapsAfterFiring(row, dueMs), firedMs: Math.max(row.firedMs, dueMs),
        ...waiting(nextMs), ...outcome(row, record.value) }
    }
    case 'cronTriggered':
      return { ...row, ...outcome(row, { ...record.value, reason: '' }) }
    case 'cronPostponed': {
      const { dueMs, sinceMs, untilMs } = record.value
      return { ...row, wakeMs: untilMs, refusedMs: dueMs, refusedSinceMs: sinceMs }
    }
    case 'cronStopped':
      return { ...row, enabled: false, updatedAtMs: record.value.atMs, ...waiting(0),
        ...outcome(row, { ...record.value, runId: '' }) }
    default:
      return row
  }
}

function saved(row: CronRow, { atMs, nextMs, ...content }: CronSaved): CronRow {
  const createdAtMs = row.createdAtMs || atMs
  const isMoved = nextMs !== row.nextMs || row.seq === 0
  const times = isMoved ? { ...waiting(nextMs), gaps: gapsAfterSaving(row, atMs) } : {}
  return { ...row, ...content, createdAtMs, updatedAtMs: Math.max(atMs, row.updatedAtMs), ...times }
}

/** Nothing is refused, and the cron waits until `nextMs`. */
function waiting(nextMs: number) {
  return { nextMs, wakeMs: nextMs, refusedMs: 0, refusedSinceMs: 0 }
}

/** The newest outcome. One of a clock that has gone back takes the place of the one before too. */
function outcome(row: CronRow,
  { atMs, runId, reason }: { readonly atMs: number; readonly runId: string;
    readonly reason: string }) {
  // A firing that is settled again has the run of the first.
  if (runId !== '' && runId === row.lastRunId) return {}
  return { lastMs: atMs, lastRunId: runId, lastReason: reason }
}

/** The same cron with another next time. */
function movedRecord(row: CronRow, nextMs: number): RecordOf {
  return savedRecord({ ...contentOf(row), cronId: row.cronId, atMs: row.updatedAtMs, nextMs })
}

function savedRecord(value: CronSaved): RecordOf {
  return { $case: 'cronSaved', value }
}

function contentOf(row: CronRow): CronContent {
  const { assistantId, threadId, schedule, timezone, endTimeMs, enabled, metadataJson, payloadJson,
    userId } = row
  return { assistantId, threadId, schedule, timezone, endTimeMs, enabled, metadataJson, payloadJson,
    userId, onRunCompleted: row.onRunCompleted as OnRunCompleted }
}

function merged(json: string, change: string | undefined): string {
  if (change === undefined) return json
  return JSON.stringify({ ...objectIn(json), ...objectIn(change) })
}

function withUserFirst(payloadJson: string): string {
  const { [cronUserMember]: user, ...rest } = objectIn(payloadJson)
  return user === undefined ? payloadJson : JSON.stringify({ [cronUserMember]: user, ...rest })
}
