/** Rules about the deployment: revisions and secrets of runs, and pauses. */

import type { Call } from '../history/history.ts'
import { isSuccess } from './history-index.ts'
import type { HistoryIndex } from './history-index.ts'
import { allowedValues } from './register-rules.ts'
import { isBefore } from './state-rules.ts'
import type { ThreadInHistory } from './state-rules.ts'
import type { Rule } from './violation.ts'

/** Time in which a member that was silent learns of a pause. */
const learnMs = 7_000
const bothRevisions = ['r1', 'r2']

interface Write {
  readonly call: Call
  readonly value: string
}

function isMove({ operation }: Call): boolean {
  return operation === 'deploy.activate' || operation === 'deploy.rollback'
}

/** Revisions that new runs take after a call; `r1|r2` if they are shared out. */
function toRevision(call: Call): readonly Write[] {
  if (!isMove(call)) return []
  const { percent = 100 } = call.body as { percent?: number }
  const { active } = (call.response ?? {}) as { active?: string }
  const [, named] = /\/revisions\/([^/]+)\/activate$/.exec(call.path) ?? []
  // Without a response it is not known which revision a rollback has made active.
  const known = call.operation === 'deploy.activate' ? named : active
  const value = percent < 100 || known === undefined ? bothRevisions.join('|') : known
  return [{ call, value }]
}

function toSecret(call: Call): readonly Write[] {
  if (call.operation !== 'deploy.secret') return []
  return [{ call, value: (call.body as { value: string }).value }]
}

/** Rules about values that a run of the deployment has written, and that may have changed since. */
function hasAllowed(kind: 'revision' | 'secret',
  toWrites: (call: Call) => readonly Write[]): Rule<ThreadInHistory> {
  return ({ index, thread }) => {
    const starts = new Map(thread.starts.toReversed().map((start) => [start.token, start.call]))
    const writes = index.calls.flatMap(toWrites)
    return thread.reads.flatMap(({ call: read, log }) =>
      log.filter((entry) => entry.includes(`:${kind}:`)).flatMap((entry) => {
        const [token = '', , found = ''] = entry.split(':')
        const start = starts.get(token)
        // Rounds before this one have left an unknown value.
        const first = writes.find(({ call }) => isSuccess(call.status))?.call
        if (start === undefined || first === undefined || !isBefore(first, start)) return []
        // A run that was queued has started at any time until the read.
        const allowed = allowedValues([], writes, { ...start, endMs: read.endMs })
        return allowed.some((value) => value?.split('|').includes(found))
          ? []
          : [{ message: `${token} has the ${kind} ${found}; allowed: ${allowed}`,
            calls: [start, read] }]
      })
    )
  }
}

/** A run, also one that was interrupted, ends on the revision on which it started. */
const same: Rule<ThreadInHistory> = ({ thread }) =>
  thread.reads.flatMap(({ call, log }) =>
    log.filter((entry) => entry.includes(':end:')).flatMap((entry) => {
      const [token = '', , end] = entry.split(':')
      const begin = log.find((other) => other.startsWith(`${token}:revision:`))?.split(':')[2]
      return begin === undefined || begin === end
        ? []
        : [{ message: `${token} started on ${begin} and ended on ${end}`, calls: [call] }]
    })
  )

/** No response about the deployment, and no line of its log, has the value of a secret. */
const hidden: Rule<HistoryIndex> = ({ calls }) => {
  const values = calls.flatMap(toSecret).map(({ value }) => value)
  return calls.filter(({ operation }) => operation.startsWith('deploy.')).flatMap((call) => {
    const text = JSON.stringify(call.response ?? null)
    const shown = values.find((value) => text.includes(value))
    return shown ? [{ message: `${call.operation} shows ${shown}`, calls: [call] }] : []
  })
}

/** Time from a pause that was acknowledged until the request that ends it. */
interface Pause {
  readonly paused: Call
  readonly resumed?: Call
}

function pausesOf({ calls }: HistoryIndex): readonly Pause[] {
  return calls.filter(({ operation }) => operation === 'deploy.pause').map((paused) => ({
    paused,
    resumed: calls.find(({ operation, startMs, status }) =>
      operation === 'deploy.resume' && startMs >= paused.endMs && status === 200
    ),
  }))
}

function isStart({ operation }: Call): boolean {
  return /^(run\.(create|delay|wait|stream)|v2\.start)$/.test(operation)
}

/** True if the run is one of the deployment that is paused. */
function isPausedBy({ path }: Call, { paused }: Pause): boolean {
  return path.split('/')[2] === paused.path.split('/').at(-1)
}

/** While the deployment is paused, no run is accepted; at other times, all are. */
const paused: Rule<HistoryIndex> = (index) => {
  const allPauses = pausesOf(index)
  return index.calls.filter(isStart).flatMap((call) => {
    const pauses = allPauses.filter((pause) => isPausedBy(call, pause))
    // A run that is waited for may have been accepted at any time of the request.
    const within = /create|delay|v2/.test(call.operation) &&
      pauses.find((pause) =>
        isSuccess(pause.paused.status) && isBefore(pause.paused, call)
        && firstResume(index, pause) > call.endMs && !isDisturbed(index, pause, call)
      )
    if (within && isSuccess(call.status)) {
      return [{ message: `A paused deployment accepted ${call.operation}`,
        calls: [within.paused, call] }]
    }
    const around = pauses.find((pause) =>
      pause.paused.startMs <= call.endMs
      && call.startMs <= (pause.resumed?.endMs ?? Infinity) + learnMs
    )
    return call.status === 409 && !around && /paused/.test(JSON.stringify(call.response))
      ? [{ message: `${call.operation} was refused without a pause`, calls: [call] }]
      : []
  })
}

/** Start of the first request that may have ended the pause. */
function firstResume({ calls }: HistoryIndex, { paused: { endMs } }: Pause): number {
  return calls.find(({ operation, startMs }) => operation === 'deploy.resume' && startMs >= endMs)
    ?.startMs ?? Infinity
}

/** True if a member may not have learned of the pause when the call ended. */
function isDisturbed({ faults }: HistoryIndex, { paused: { startMs } }: Pause,
  call: Call): boolean {
  return faults.some((fault) => fault.endMs + learnMs >= startMs && fault.startMs <= call.endMs)
}

/** Rules about the whole history. */
export const deploymentRules = { 'secrets are hidden': hidden, 'pauses hold back runs': paused }
/** Rules about a thread. */
export const revisionRules = { 'runs have the active revision': hasAllowed('revision', toRevision),
  'runs have the last secret': hasAllowed('secret', toSecret), 'runs keep their revision': same }
