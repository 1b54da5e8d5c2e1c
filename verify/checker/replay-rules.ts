/** Rules about the recordings of runs, and about replays on revisions of the deployment. */

import type { Call } from '../history/history.ts'
import { isSuccess } from './history-index.ts'
import type { HistoryIndex, ThreadRecord } from './history-index.ts'
import { isBefore, isRunDeleted } from './state-rules.ts'
import type { ThreadInHistory } from './state-rules.ts'
import type { Rule } from './violation.ts'

interface Replay {
  readonly id: string
  readonly revision: string
  readonly phase: string
  readonly experiment: string | null
}

interface Verdict {
  readonly thread_id: string
  readonly run_id: string
  readonly stateless: boolean
  readonly recorded_revision: string
  readonly verdict: string
  readonly reason: string | null
}

/** A replay as a response has it. */
interface ReplayView {
  readonly call: Call
  readonly replay: Replay
}

function toView(call: Call): readonly ReplayView[] {
  const { operation, status, response } = call
  if (!isSuccess(status)) return []
  if (operation === 'replay.cancel') return [{ call, replay: response as Replay }]
  if (!/^replay\.(start|get)$/.test(operation)) return []
  return [{ call, replay: (response as { replay: Replay }).replay }]
}

function replaysOf({ calls }: HistoryIndex): readonly (readonly ReplayView[])[] {
  return [...Map.groupBy(calls.flatMap(toView), ({ replay }) => replay.id).values()]
}

/** A replay that has ended, or was cancelled, keeps its phase. */
const kept: Rule<HistoryIndex> = (index) =>
  replaysOf(index).flatMap((views) => {
    const over = views.find(({ call, replay }) =>
      replay.phase !== 'running' || call.operation === 'replay.cancel'
    )
    const changed = over && views.find(({ call, replay }) =>
      isBefore(over.call, call) && replay.phase !== over.replay.phase
    )
    return changed
      ? [{ message: `Replay ${changed.replay.id} is ${changed.replay.phase} after ` +
        over.replay.phase, calls: [over.call, changed.call] }]
      : []
  })

/** A replay that was cancelled is kept as no experiment. */
const cancelled: Rule<HistoryIndex> = (index) =>
  replaysOf(index).flat().filter(({ replay }) =>
    replay.phase === 'cancelled' && replay.experiment !== null
  ).map(({ call, replay }) => (
    { message: `Replay ${replay.id} was cancelled and has an experiment`, calls: [call] }
  ))

/** After the load each replay has ended, and none has failed without a fault. */
const ended: Rule<HistoryIndex> = (index) =>
  replaysOf(index).flatMap((views) => {
    const { call, replay } = views.at(-1)!
    const from = views[0]!.call.startMs
    const isLate = call.startMs >= index.quietMs && replay.phase === 'running'
    const hasFailed = replay.phase === 'failed'
      && !index.faults.some(({ startMs, endMs }) => startMs <= call.endMs && endMs >= from)
    return isLate || hasFailed
      ? [{ message: `Replay ${replay.id} is ${replay.phase}`, calls: [call] }]
      : []
  })

interface VerdictRead {
  readonly call: Call
  readonly started: ReplayView
  readonly verdicts: readonly Verdict[]
}

function verdictReads(index: HistoryIndex): readonly VerdictRead[] {
  const started = new Map(replaysOf(index).map((views) => [views[0]!.replay.id, views[0]!]))
  return index.calls.filter(({ operation, status }) =>
    operation === 'replay.runs' && status === 200
  )
    .flatMap((call) => {
      const view = started.get(call.path.split('/').at(-2)!)
      return view
        ? [{ call, started: view, verdicts: (call.response as { runs: Verdict[] }).runs }]
        : []
    })
}

/** A replay has each run once, and none that was deleted before. */
const chosen: Rule<HistoryIndex> = (index) =>
  verdictReads(index).flatMap(({ call, started, verdicts }) =>
    verdicts.flatMap(({ thread_id: threadId, run_id: runId }, at) => {
      const isTwice = verdicts.findIndex((other) => other.run_id === runId) < at
      if (isTwice) return [{ message: `Run ${runId} is replayed twice`, calls: [call] }]
      const thread = index.threads.get(threadId)
      const gone = thread && findDeletion(thread, runId)
      return gone && started.call.operation === 'replay.start' && isBefore(gone, started.call)
        ? [{ message: `Run ${runId} was deleted and is replayed`, calls: [gone, call] }]
        : []
    })
  )

/** The call that has deleted a run, or that has found it deleted. */
function findDeletion({ deletions, runs }: ThreadRecord, runId: string): Call | undefined {
  return deletions.find(({ status }) => isSuccess(status))
    ?? runs.get(runId)?.views.find(({ status }) => status === 'gone')?.call
}

/** A run does not come out otherwise on the revision that has executed it. */
const repeated: Rule<HistoryIndex> = (index) =>
  verdictReads(index).flatMap(({ call, started: { replay: { revision } }, verdicts }) =>
    verdicts.filter(({ recorded_revision: recorded, verdict }) =>
      recorded === revision && /^(diverged|failed|fixed)$/.test(verdict)
    ).map(({ run_id: runId, verdict, reason }) => (
      { message: `Run ${runId} is ${verdict} on its own revision: ${reason}`, calls: [call] }
    ))
  )

/** A recorded call has the token of the task of its run. */
const recorded: Rule<ThreadInHistory> = ({ thread }) =>
  thread.calls.filter(({ operation, status }) => operation === 'run.call' && status === 200)
    .flatMap((call) => {
      const runId = /\/runs\/([^/]+)/.exec(call.path)![1]!
      const { request } = call.response as { request: { text?: string } }
      const start = thread.runs.get(runId)?.start
      return start === undefined || start.action === 'answer' || request.text === start.token
        ? []
        : [{ message: `A call of ${start.token} has the request ${request.text}`, calls: [call] }]
    })

/** A run that was deleted has no recording. */
const deleted: Rule<ThreadInHistory> = ({ thread }) =>
  thread.calls.filter(({ operation, status }) => /^run\.calls?$/.test(operation) && status === 200)
    .flatMap((call) => {
      const runId = /\/runs\/([^/]+)/.exec(call.path)![1]!
      const gone = isRunDeleted(thread, runId)
        && thread.runs.get(runId)?.views.find(({ status }) => status === 'gone')?.call
      return gone && isBefore(gone, call)
        ? [{ message: `Run ${runId} was deleted and has a recording`, calls: [gone, call] }]
        : []
    })

/** Rules about the whole history. */
export const replayRules = { 'replays that have ended stay so': kept,
  'cancelled replays leave nothing': cancelled, 'replays end': ended,
  'replays have runs that exist': chosen, 'runs agree with their revision': repeated }
/** Rules about a thread. */
export const recordingRules = { 'recordings are of their run': recorded,
  'deleted runs have no recording': deleted }
