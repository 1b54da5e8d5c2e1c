/** Rules about requests that start runs, and about the streams of runs. */

import type { Call } from '../history/history.ts'
import { isFinal } from './history-index.ts'
import type { HistoryIndex } from './history-index.ts'
import type { ThreadInHistory } from './state-rules.ts'
import type { Rule } from './violation.ts'

/** A request that is repeated with its idempotency key returns the same run. */
const repeated: Rule<ThreadInHistory> = ({ thread: { starts } }) =>
  [...Map.groupBy(starts, ({ token }) => token)].flatMap(([token, same]) => {
    const calls = same.map(({ call }) => call)
    const ids = new Set(calls.flatMap(({ runId }) => runId ?? []))
    return ids.size > 1 ? [{ message: `${token} has the runs ${[...ids]}`, calls }] : []
  })

/** A run with a new task is refused only by the strategy `reject`. */
const accepted: Rule<ThreadInHistory> = ({ thread: { starts } }) =>
  starts.filter(({ call, action, strategy }) =>
    action !== 'answer' && strategy !== 'reject' && call.operation !== 'v2.fork'
    && !wasRolledBack(call) && (call.status === 400 || call.status === 422)
  ).map(({ call, token }) => ({ message: `${token} was refused with ${call.status}`,
    calls: [call] })
  )

/** True if the run of a message of A2A was rolled back before the response. */
function wasRolledBack({ response }: Call): boolean {
  const { error } = (response ?? {}) as { error?: { message?: string } | string }
  return typeof error === 'object' && /^Run \S+ not found/.test(error.message ?? '')
}

/** A stream has each event once, and continues after the event that the client names. */
const streamed: Rule<ThreadInHistory> = ({ thread: { calls } }) => {
  const streams = calls.filter(({ operation, status }) =>
    operation === 'run.follow' && status === 200
  )
  return streams.flatMap((call) => {
    const ids = toIds(call)
    const message = `The stream ${call.path} has ${ids}`
    if (new Set(ids).size < ids.length) return [{ message, calls: [call] }]
    const after = call.headers?.['last-event-id']
    const whole = after !== undefined &&
      streams.find((other) =>
        other.path === call.path && other.headers === undefined && other.endMs <= call.startMs
        && toIds(other).includes(after)
      )
    if (!whole) return []
    const expected = toIds(whole).slice(toIds(whole).indexOf(after) + 1)
    // A simulated connection that broke looks like a response without the last event.
    const isBroken = hasEnd(whole) && !hasEnd(call)
    return ids.join() === (isBroken ? expected.slice(0, ids.length) : expected).join()
      ? []
      : [{ message: `${message} after ${after} instead of ${expected}`, calls: [whole, call] }]
  })
}

function hasEnd({ response }: Call): boolean {
  const { events = [] } = response as { events?: readonly string[] }
  return events.includes('end')
}

function toIds({ response }: Call): readonly string[] {
  return (response as { ids: string[] }).ids
}

/** A run that has ended, with a webhook. */
interface Notified {
  readonly start: Call
  readonly runId: string
  /** The status with which a client saw it. */
  readonly status: string
}

function notifiedRuns({ threads }: HistoryIndex): readonly Notified[] {
  return [...threads.values()].flatMap((thread) =>
    [...thread.runs.values()].flatMap(({ id, start, views }) => {
      const last = views.at(-1)
      return start?.webhook !== undefined && last !== undefined
          && isFinal(last.status) && thread.deletions.length === 0
        ? [{ start: start.call, runId: id, status: last.status }]
        : []
    })
  )
}

/** Runs that have ended without their webhook. */
export function findUndelivered(index: HistoryIndex): readonly Notified[] {
  const delivered = new Set(index.webhooks.map(({ runId }) => runId))
  return notifiedRuns(index).filter(({ runId }) => !delivered.has(runId))
}

/** The webhook of each run that has ended is delivered at least once. */
const delivered: Rule<HistoryIndex> = (index) =>
  index.quietMs === Infinity
    ? []
    : findUndelivered(index)
      .map(({ runId, start }) => ({ message: `Run ${runId} has no webhook`, calls: [start] }))

/** A webhook has the status that the run keeps. */
const notified: Rule<HistoryIndex> = (index) =>
  notifiedRuns(index).flatMap(({ runId, status, start }) => {
    const other = index.webhooks.find((webhook) =>
      webhook.runId === runId && webhook.status !== status
    )
    const message = `Run ${runId} is ${status}, and ${other?.status} in its webhook`
    return other ? [{ message, calls: [start] }] : []
  })

/** A stateless run starts from an empty state. */
const stateless: Rule<HistoryIndex> = ({ calls }) =>
  calls.filter(({ operation, status }) => operation === 'stateless.wait' && status === 200)
    .flatMap((call) => {
      const { input: { task } } = call.body as {
        input: { task: { token: string; action: string } }
      }
      const { log = [] } = call.response as { log?: readonly string[] }
      const isComplete = !/^(plain|slow)$/.test(task.action)
        || log.includes(`${task.token}:in`) && log.includes(`${task.token}:out`)
      return isComplete && log.every((entry) => entry.startsWith(`${task.token}:`))
        ? []
        : [{ message: `A stateless run returned ${log}`, calls: [call] }]
    })

/** Rules about a thread. */
export const runRules = { 'runs are accepted': accepted, 'idempotency keys name one run': repeated,
  'streams have each event once': streamed }
/** Rules about the whole history. */
export const runsRules = { 'stateless runs start empty': stateless,
  'webhooks are delivered': delivered, 'webhooks have the status': notified }
