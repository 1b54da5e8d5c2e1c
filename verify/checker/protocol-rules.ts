/** Rules about protocol v2: runs that commands start, and the events of threads. */

import type { Call } from '../history/history.ts'
import { isSuccess } from './history-index.ts'
import type { RunRecord, RunStart, ThreadRecord } from './history-index.ts'
import { isBefore, isRollback, isRunDeleted, mayFork } from './state-rules.ts'
import type { ThreadInHistory } from './state-rules.ts'
import type { Rule } from './violation.ts'

interface ThreadEvent {
  readonly id: string
  readonly seq: number
  readonly method: string
  /** Of a `lifecycle` event of the root. */
  readonly event?: string
  readonly reason?: string
}

/** Events that a client has read, and the log in the last one with values. */
interface EventRead {
  readonly call: Call
  readonly events: readonly ThreadEvent[]
  readonly log?: readonly string[]
}

function eventReads({ calls }: ThreadRecord): readonly EventRead[] {
  return calls.filter(({ operation, status }) =>
    /^v2\.(events|socket)$/.test(operation) && status === 200
  ).map((call) => ({ call, events: [], ...call.response as object }))
}

/** A reading has each event once, and in the order of their numbers. */
const once: Rule<ThreadInHistory> = ({ thread }) =>
  eventReads(thread).flatMap(({ call, events }) => {
    const at = events.findIndex(({ seq }, index) => index > 0 && seq <= events[index - 1]!.seq)
    return at < 0
      ? []
      : [{ message: `Event ${events[at]!.id} follows ${events[at - 1]!.id}`, calls: [call] }]
  })

/** The number after which a reading has events; undefined if it has none. */
function startOf({ call: { body, headers = {} }, events }: EventRead): number | undefined {
  const { since } = (body ?? {}) as { since?: number }
  const last = headers['last-event-id']?.split(':').at(-1)
  const first = events[0]?.seq
  return since ?? (last === undefined ? first === undefined ? undefined : first - 1 : Number(last))
}

function runOf({ id }: ThreadEvent): string | undefined {
  return /^synth:([^:]+):/.exec(id)?.[1]
}

function isEnd({ event = '' }: ThreadEvent): boolean {
  return /^(completed|failed|interrupted)$/.test(event)
}

/**
 * A reading has each event that another one has within its range. The server retains the last
 * finished run and what follows, so a reading may begin with the start of a later run.
 */
const complete: Rule<ThreadInHistory> = ({ thread }) => {
  const reads = eventReads(thread).filter(({ call }) => call.operation === 'v2.events')
  return reads.flatMap((read) => {
    const after = startOf(read)
    const { call, events } = read
    if (after === undefined || mayBeCut(thread, call)) return []
    const isResumed = hasPlace(call)
    const [from, until] = [findStart(events, after), events.at(-1)?.seq ?? -1]
    const ids = new Set(events.map(({ id }) => id))
    return reads.flatMap((other) => {
      const lost = other.events.find((event) =>
        event.seq > from && event.seq <= until && !ids.has(event.id)
        // The ends of earlier runs are left out at the start of a stream.
        && (isResumed || !isEnd(event))
        && (event.event !== undefined || !mayLoseValues(thread, call))
        && !isRunDeleted(thread, runOf(event) ?? '')
      )
      return lost ? [{ message: `Event ${lost.id} is missing`, calls: [other.call, call] }] : []
    })
  })
}

function findStart([first]: readonly ThreadEvent[], after: number): number {
  return first?.event === 'running' ? first.seq : after
}

function hasPlace({ body, headers = {} }: Call): boolean {
  return (body as { since?: number }).since !== undefined || 'last-event-id' in headers
}

/** True if the log may have lost its first part. */
function mayBeCut({ calls, deletions }: ThreadRecord, { endMs }: Call): boolean {
  return [...deletions, ...calls.filter(({ operation }) => operation === 'thread.prune')]
    .some(({ startMs }) => startMs <= endMs)
}

/** True if states may have been taken out of the log. */
function mayLoseValues(thread: ThreadRecord, { endMs }: Call): boolean {
  return mayFork(thread, 0, endMs) ||
    thread.calls.some((call) =>
      (isRollback(call) || call.operation === 'run.delete') && call.startMs <= endMs
    )
}

/** Statuses that a run may have after an end in its events. */
function statusesAfter({ event, reason }: ThreadEvent): readonly string[] {
  if (event === 'completed') return ['success']
  if (event === 'failed') return ['error', 'timeout']
  if (reason === undefined || reason === 'breakpoint') return ['success']
  return reason === 'rolled_back' ? ['gone'] : ['interrupted']
}

/** A run ends once in the events of its thread, with the status that it keeps. */
const ended: Rule<ThreadInHistory> = ({ thread }) =>
  eventReads(thread).flatMap(({ call, events }) =>
    events.filter(isEnd).flatMap((event, at, ends) => {
      const runId = runOf(event)!
      const allowed = statusesAfter(event)
      const view = thread.runs.get(runId)?.views.findLast((each) =>
        isBefore(call, each.call) && !allowed.includes(each.status)
      )
      const isTwice = ends.findIndex((other) => runOf(other) === runId) < at
      if (isTwice) return [{ message: `Run ${runId} ends twice`, calls: [call] }]
      return view === undefined || view.status === 'gone' && mayVanish(thread, runId)
        ? []
        : [{ message: `Run ${runId} is ${view.status} after ${event.event} ${event.reason ?? ''}`,
          calls: [call, view.call] }]
    })
  )

/** True if the thread or the run may be deleted. */
function mayVanish(thread: ThreadRecord, runId: string): boolean {
  return thread.deletions.length > 0 || isRunDeleted(thread, runId)
}

const rootStatuses: Readonly<Record<string, readonly string[]>> = { completed: ['success'],
  failed: ['error', 'timeout'], interrupted: ['success', 'interrupted'] }

interface TreeResponse {
  readonly result: { readonly tree: { readonly status: string } }
}

/** The tree of a run has the status of the run. */
const trees: Rule<ThreadInHistory> = ({ thread }) =>
  thread.calls.filter(({ operation, status }) => operation === 'v2.tree' && status === 200)
    .flatMap((call) => {
      const { run_id: runId } = (call.body as { params: { run_id: string } }).params
      const { status } = (call.response as TreeResponse).result.tree
      const views = thread.runs.get(runId)?.views ?? []
      const ended_ = views.find((view) => isFinalStatus(view.status))
      if (!ended_ || !(rootStatuses[status] || isBefore(ended_.call, call))) return []
      return rootStatuses[status]?.includes(ended_.status)
        ? []
        : [{ message: `The tree of run ${runId} is ${status}, the run ${ended_.status}`,
          calls: [ended_.call, call] }]
    })

function isFinalStatus(status: string): boolean {
  return /^(success|error|timeout|interrupted)$/.test(status)
}

/** True if the log has the input of a start, as a task or as the answer to an interrupt. */
function hasInput(log: readonly string[], { token }: RunStart): boolean {
  return log.includes(`${token}:in`) || log.some((entry) => entry.endsWith(`:answer:${token}`))
}

/** True if the input may be the answer to the question of an effect, which leaves no entry. */
function mayAnswerEffect(thread: ThreadRecord): boolean {
  return thread.starts.some(({ action }) => action === 'mail' || action === 'input')
    && thread.calls.some(({ body }) => JSON.stringify(body ?? '').includes('"action":"mail"'))
}

function inputs({ runs }: ThreadRecord): readonly (RunRecord & { readonly start: RunStart })[] {
  return [...runs.values()].flatMap((run) =>
    run.start?.action === 'input' ? [{ ...run, start: run.start }] : []
  )
}

/** The input of a command that succeeded is in later states, once. */
const taken: Rule<ThreadInHistory> = ({ thread }) =>
  inputs(thread).flatMap(({ start, views }) => {
    const succeeded = views.find(({ status }) => status === 'success')?.call
    return thread.reads.flatMap(({ call, log }) => {
      const isTask = log.includes(`${start.token}:in`)
      if (isTask && log.some((entry) => entry.endsWith(`:answer:${start.token}`))) {
        return [{ message: `${start.token} is a task and an answer`, calls: [start.call, call] }]
      }
      const isLost = succeeded !== undefined && isBefore(succeeded, call) && !hasInput(log, start)
        && !mayFork(thread, start.call.startMs, call.endMs) && !mayAnswerEffect(thread)
      return isLost
        ? [{ message: `${start.token} is not in the state`, calls: [succeeded, call] }]
        : []
    })
  })

/** The last values before the end of a run contain its input. */
const agreed: Rule<ThreadInHistory> = ({ thread }) =>
  inputs(thread).flatMap(({ id, start }) => {
    const read = eventReads(thread).find(({ call }) => call === start.call)
    const isCompleted = read?.events.some((event) =>
      runOf(event) === id && event.event === 'completed'
    )
    if (!read || !isCompleted || !isSuccess(read.call.status) || mayAnswerEffect(thread)) return []
    return hasInput(read.log ?? [], start)
      ? []
      : [{ message: `The events of run ${id} lack ${start.token}`, calls: [read.call] }]
  })

/** Rules about a thread. */
export const protocolRules = { 'thread events are in order': once,
  'thread events have no gap': complete, 'runs end in their events': ended,
  'trees have the status of the run': trees, 'inputs of commands are used once': taken,
  'events and state agree': agreed }
