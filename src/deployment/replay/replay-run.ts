/** Replays one recorded run, and gives the verdict. */

import { faultOfControl, judge, verdictFor } from '../../graph/index.ts'
import type { Judgement, RecordedEnding, ReplayedRun } from '../../graph/index.ts'
import { memberOf, valueIn } from '../../json/index.ts'
import type { PriceModel } from '../../platform/index.ts'
import { recordedRun } from './recorded-run.ts'
import type { RecordedRun, RecordedRunParts, RunPlaceName } from './recorded-run.ts'
import type { ReplayProcesses } from './replay-processes.ts'
import type { ReplayRequest, RunVerdict } from './replay-record.ts'
import { usageOfReplay } from './replay-usage.ts'

/** A run with its verdict, and the values that it ended with. */
export interface ReplayedVerdict {
  readonly verdict: RunVerdict
  /** JSON texts; undefined where they are not known. */
  readonly input: string
  readonly expected: string | undefined
  readonly actual: string | undefined
}

/** Stores that runs are read from, and the prices of models. */
export interface ReplayRunParts extends RecordedRunParts {
  readonly price: PriceModel
}

/**
 * Replays a run: on its own revision first if that is a control, then on the other one. Rule:
 * [control_first].
 */
export async function replayRun({ price, ...parts }: ReplayRunParts, processes: ReplayProcesses,
  { revision, controls }: ReplayRequest, place: RunPlaceName): Promise<ReplayedVerdict> {
  const recorded = await recordedRun(parts, place)
  const { graphId = '', revision: recordedRevision = '' } = recorded.begin ?? {}
  if ('reason' in recorded) {
    return unreplayable(place, recorded.reason, { graphId, recordedRevision })
  }
  const { begin } = recorded
  const known = { ...nothingOf(place), graphId, recordedRevision, recordedCalls: recorded.calls,
    firstStep: recorded.firstStep }
  const ending = endingOf(recorded)
  const answer = (judgement: Judgement, next?: ReplayedRun,
    before?: ReplayedRun): ReplayedVerdict => ({
      verdict: { ...known, calls: next?.report.answered ?? 0, ms: Math.round(next?.ms ?? 0),
        usage: usageOfReplay(next, before, price, recorded.startedAtMs), ...judgement },
      input: begin.request.input,
      expected: recorded.values,
      actual: next?.values,
    })
  if (!controls) return await replayedOn(recorded, undefined)
  const control = await processes.execute(begin.revision, recorded, place)
  if (typeof control === 'string') return answer(verdictFor('not_replayable', control))
  const fault = faultOfControl(control, ending)
  if (fault === undefined) return await replayedOn(recorded, control)
  // Somebody may have followed its thread as a whole, which no record says.
  const followed = followedRun(recorded)
  const other = stopsAtCall(control)
    ? await processes.execute(begin.revision, followed, place)
    : 'not tried'
  return typeof other === 'string' || faultOfControl(other, ending) !== undefined
    ? answer(fault, control)
    : await replayedOn(followed, other)

  async function replayedOn(run: RecordedRun, before: ReplayedRun | undefined) {
    const next = await processes.execute(revision, run, place)
    return typeof next === 'string'
      ? answer(verdictFor('failed', next), undefined, before)
      : answer(judge(next, before, ending), next, before)
  }
}

/** The verdict on a run that cannot be replayed. */
export function unreplayable(place: RunPlaceName, reason: string,
  known: Partial<Pick<RunVerdict, 'graphId' | 'recordedRevision'>> = {}): ReplayedVerdict {
  return { verdict: { ...nothingOf(place), ...known, ...verdictFor('not_replayable', reason) },
    input: '{}', expected: undefined, actual: undefined }
}

function nothingOf({ threadId, runId }: RunPlaceName) {
  return { threadId, runId, graphId: '', recordedRevision: '', recordedCalls: 0, calls: 0, ms: 0 }
}

function endingOf({ begin: { status, errorJson }, values, waits }: RecordedRun): RecordedEnding {
  const error = errorJson === '' ? undefined : valueIn(errorJson)
  return { hasFailed: status === 'error', waits, values, error: error === undefined
    ? undefined
    : { error: String(memberOf(error, 'error')), message: String(memberOf(error, 'message')) } }
}

function stopsAtCall({ report: { stop } }: ReplayedRun): boolean {
  return stop?.kind === 'call'
}

/** The run with the events of protocol v2, for which models are asked to stream. */
function followedRun(recorded: RecordedRun): RecordedRun {
  const { begin } = recorded
  return { ...recorded, begin: { ...begin, request: { ...begin.request, threadEvents: true } } }
}
