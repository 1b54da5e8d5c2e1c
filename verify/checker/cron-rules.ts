/** Rules about crons, which are due each minute, and about threads with a time to live. */

import type { Call, Tick } from '../history/history.ts'
import { isSuccess } from './history-index.ts'
import type { HistoryIndex } from './history-index.ts'
import { isBefore } from './state-rules.ts'
import type { Rule } from './violation.ts'

const minuteMs = 60_000
/** Tolerance for a tick that is under way while its cron changes, and for the clock of a thread. */
const toleranceMs = 1_000

interface CronRecord {
  readonly id: string
  readonly token: string
  readonly created: Call
  readonly calls: readonly Call[]
  /** One of each run, by the creation of the run. */
  readonly ticks: readonly Tick[]
}

function cronsOf({ calls, ticks }: HistoryIndex): readonly CronRecord[] {
  const byToken = Map.groupBy(ticks, ({ cron }) => cron)
  const byPath = Map.groupBy(calls, ({ path }) => path)
  return calls.filter(({ operation, status }) => operation === 'cron.create' && status === 200)
    .map((created) => {
      const { cron_id: id } = created.response as { cron_id: string }
      const { token } = (created.body as { input: { task: { token: string } } }).input.task
      const runs = new Map(byToken.get(token)?.map((tick) => [tick.runId, tick]))
      return { id, token, created, calls: byPath.get(`/runs/crons/${id}`) ?? [],
        ticks: [...runs.values()].toSorted((one, other) => one.wallMs - other.wallMs) }
    })
}

/** Due times from one time of day to another one, without the first. */
function countDue(fromMs: number, untilMs: number): number {
  return Math.max(0, Math.floor(untilMs / minuteMs) - Math.floor(fromMs / minuteMs))
}

/** A due time has one run at most. */
const once: Rule<HistoryIndex> = (index) => {
  const { wallMs } = index
  if (wallMs === undefined) return []
  return cronsOf(index).flatMap(({ token, created, ticks }) =>
    ticks.flatMap(({ wallMs: tickMs }, earlier) =>
      earlier < countDue(wallMs + created.startMs, tickMs)
        ? []
        : [{ message: `Cron ${token} had run ${earlier + 1} at ${new Date(tickMs).toISOString()}`,
          calls: [created] }]
    )
  )
}

/** A call that ends the ticks of a cron: its deletion, or a pause. */
function isStop({ operation, body }: Call): boolean {
  return operation === 'cron.delete' || isUpdate(operation, body, false)
}

function isUpdate(operation: string, body: unknown, enabled: boolean): boolean {
  return operation === 'cron.update' && (body as { enabled?: boolean }).enabled === enabled
}

/** A cron makes no run after its deletion, and none while it is paused. */
const stopped: Rule<HistoryIndex> = (index) => {
  const { wallMs } = index
  if (wallMs === undefined) return []
  return cronsOf(index).flatMap(({ token, calls, ticks }) =>
    calls.filter((call) => isStop(call) && isSuccess(call.status)).flatMap((stop) => {
      const resumed = calls.find((call) =>
        isUpdate(call.operation, call.body, true) && call.startMs >= stop.startMs
      )
      const tick = ticks.find(({ wallMs: tickMs }) =>
        tickMs > wallMs + stop.endMs + toleranceMs
        && tickMs < wallMs + (resumed?.startMs ?? Infinity)
      )
      const message = `Cron ${token} made run ${tick?.runId} after ${stop.operation}`
      return tick ? [{ message, calls: [stop] }] : []
    })
  )
}

/** Crons that were due, and have no run. */
export function findMissingTicks(index: HistoryIndex): readonly Call[] {
  const { wallMs, quietMs } = index
  if (wallMs === undefined || quietMs === Infinity) return []
  return cronsOf(index).flatMap(({ created, calls, ticks }) => {
    const stop = calls.find(isStop)
    const untilMs = Math.min(quietMs, stop?.startMs ?? Infinity)
    const due = countDue(wallMs + created.endMs, wallMs + untilMs - toleranceMs)
    return due > 0 && ticks.length === 0 ? [created] : []
  })
}

/** A due time has a run; missed times have one together. */
const fired: Rule<HistoryIndex> = (index) =>
  findMissingTicks(index).map((created) => ({ message: 'A cron was due and has no run',
    calls: [created] })
  )

/** A cron exists until its client deletes it. Reads and searches find it until then. */
const lives: Rule<HistoryIndex> = (index) =>
  cronsOf(index).flatMap(({ id, created, calls }) => {
    const deletion = calls.find(({ operation }) => operation === 'cron.delete')
    const reads = calls.filter(({ operation }) => operation === 'cron.get')
    const searches = index.calls.filter(({ operation, status }) =>
      operation === 'cron.search' && status === 200
    )
    return [...reads, ...searches].flatMap((call) => {
      const isFound = call.operation === 'cron.get'
        ? call.status === 200
        : (call.response as { cron_id: string }[]).some((cron) => cron.cron_id === id)
      const isMissing = !isFound && (call.status === 404 || call.operation === 'cron.search')
      if (isMissing && isBefore(created, call) && !(deletion && deletion.startMs <= call.endMs)) {
        return [{ message: `Cron ${id} is not found`, calls: [created, call] }]
      }
      return isFound && deletion && isSuccess(deletion.status) && isBefore(deletion, call)
        ? [{ message: `Cron ${id} was deleted and is found`, calls: [deletion, call] }]
        : []
    })
  })

interface MortalRecord {
  readonly id: string
  readonly ttlMs: number
  readonly created: Call
  readonly calls: readonly Call[]
}

function mortalsOf({ calls }: HistoryIndex): readonly MortalRecord[] {
  const searches = calls.filter(({ operation, status }) =>
    operation === 'mortal.search' && status === 200
  )
  return calls.filter(({ operation, status }) => operation === 'mortal.create' && status === 200)
    .map((created) => {
      const { thread_id: id } = created.response as { thread_id: string }
      const { ttl } = created.body as { ttl: number }
      return { id, ttlMs: ttl * minuteMs, created,
        calls: [...searches,
          ...calls.filter(({ path, operation }) =>
            path.includes(id) && operation.startsWith('mortal')
          )] }
    })
}

/** A thread with a time to live is found until its time has passed, and not later. */
const mortal: Rule<HistoryIndex> = (index) =>
  mortalsOf(index).flatMap(({ id, ttlMs, created, calls }) => {
    // A busy thread lives longer.
    const isUsed = calls.some(({ operation }) => operation === 'mortal.run')
    return calls.flatMap((call) => {
      const isFound = call.operation === 'mortal.search'
        ? (call.response as { thread_id: string }[]).some((thread) => thread.thread_id === id)
        : call.status === 200
      const isMissing = !isFound && (call.status === 404 || call.operation === 'mortal.search')
      const isEarly = isBefore(created, call)
        && call.endMs < created.startMs + ttlMs
      const isLate = !isUsed && call.startMs > created.endMs + ttlMs + toleranceMs
      return isMissing && isEarly || isFound && isLate
        ? [{
          message: `Thread ${id} is ${isFound ? 'found' : 'not found'}; time to live ${ttlMs} ms`,
          calls: [created, call],
        }]
        : []
    })
  })

/** Rules about the whole history. */
export const cronRules = { 'crons fire once at a time': once, 'stopped crons do not fire': stopped,
  'crons fire when they are due': fired, 'crons are found until they are deleted': lives,
  'threads live for their time': mortal }
