/** A run of a deployment as it was recorded: how it began, how it ended, and its calls. */

import type { StoredTuple } from '../../checkpoint/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { decodeBlock, executionsIn, statelessRunIn, withUntracked } from '../../graph/index.ts'
import type { CheckpointSource, RecordedExecution, StatelessRun } from '../../graph/index.ts'
import { memberOf, valueIn } from '../../json/index.ts'
import type { Platform } from '../../platform/index.ts'
import { tuplesIn } from '../../thread/index.ts'
import type { ReplayBegin, ThreadClient } from '../../thread/index.ts'
import type { Deployment } from '../deployment.ts'

/** The stores that runs are read from. */
export interface RecordedRunParts {
  readonly threads: Pick<ThreadClient, 'replayBase' | 'state'>
  readonly recordings: Pick<Platform['query'], 'recordedBlocks' | 'labelledRecordings'>
}

/** Limits reads of recordings to a deployment. */
export function recordingsOf(recordings: RecordedRunParts['recordings'],
  { id, createdAtMs }: Pick<Deployment, 'id' | 'createdAtMs'>): RecordedRunParts['recordings'] {
  const deployment = { id, createdAtMs }
  return {
    recordedBlocks: (question) => recordings.recordedBlocks({ ...question, deployment }),
    labelledRecordings: (question) => recordings.labelledRecordings({ ...question, deployment }),
  }
}

/** The place of a run. */
export interface RunPlaceName {
  /** Namespace of the deployment's data. */
  readonly tenant: string
  readonly threadId: string
  readonly runId: string
}

/** A recorded run that can be replayed. */
export interface RecordedRun {
  readonly begin: ReplayBegin
  readonly blocks: readonly Uint8Array[]
  readonly startedAtMs: number
  readonly calls: number
  /** The superstep with which its last part begins; null if it has one part alone. */
  readonly firstStep: number | null
  readonly source: CheckpointSource
  /** JSON of the values at its end; undefined if they cannot be read. */
  readonly values: string | undefined
  /** True if it waited for a person at its end; undefined if that is not known. */
  readonly waits: boolean | undefined
}

/** A run that cannot be replayed, with the reason. */
export interface LostRun {
  /** Undefined if neither a thread nor a recording has it. */
  readonly begin: Pick<ReplayBegin, 'graphId' | 'revision'> | undefined
  readonly reason: string
}

/** True if calls of the run are recorded. */
export async function isRecorded({ recordings }: RecordedRunParts,
  { tenant, runId }: RunPlaceName): Promise<boolean> {
  return (await recordings.recordedBlocks({ tenant, runId, limit: 1 })).length > 0
}

/** Reads a recorded run. */
export async function recordedRun(parts: RecordedRunParts,
  place: RunPlaceName): Promise<RecordedRun | LostRun> {
  const { tenant, threadId, runId } = place
  const begin = await beginOf(parts, place)
  const lost = (reason: string, graphId?: string): LostRun => ({ reason,
    begin: begin ?? (graphId === undefined ? undefined : { graphId, revision: '' }) })
  // The thread of a stateless run has its id, and goes with it.
  if (begin === undefined && threadId !== runId) return lost('Its thread was removed.')
  const blocks = await parts.recordings.recordedBlocks({ tenant, runId })
  if (blocks.length === 0) return lost('It is not recorded, or not any more.')
  const read = await Promise.all(blocks.map(decodeBlock)).catch(() => undefined)
  if (read === undefined) return lost('Its recording cannot be read.')
  const execution = lastPart(executionsIn(read), begin)
  if (execution === undefined) {
    return lost('It was executed in several parts, and nothing is recorded of the last one.',
      read[0]?.graphId)
  }
  const { graphId, startedAtMs, calls, isCut, run } = execution
  if (isCut) return lost('Its recording is cut: calls, bodies or its input are missing.', graphId)
  const known = { startedAtMs, calls: calls.length,
    blocks: blocks.filter((_, at) => read[at]!.startedAtMs === startedAtMs) }
  if (run) {
    const own = statelessRunIn(run)
    return own
      ? { ...known, firstStep: null, ...statelessOf(graphId, own) }
      : lost('Its recording cannot be read.', graphId)
  }
  if (begin === undefined) return lost('Its thread was removed.')
  const tuples = async (reading: Parameters<ThreadClient['replayBase']>[3]) =>
    tuplesIn(await parts.threads.replayBase(tenant, threadId, runId, reading))
  const source: CheckpointSource = {
    tuple: async (ns, checkpointId) => (await tuples({ kind: 'tuple', ns, checkpointId }))[0],
    list: (query) => tuples({ kind: 'list', query }),
  }
  try {
    const head = begin.headId === null ? undefined : await source.tuple('', begin.headId)
    return { ...known, begin, source, ...await endOf(parts, place, begin),
      firstStep: begin.starts > 1 ? stepAfter(head) : null }
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_found') throw error
    return lost('The history before it was removed.')
  }
}

/**
 * The execution that ended the run. What an earlier one had done by then is in the thread, and what
 * it had begun was done again. Undefined if none is recorded.
 */
function lastPart(executions: readonly RecordedExecution[], begin: ReplayBegin | undefined):
  | RecordedExecution
  | undefined {
  const last = executions.at(-1)
  if (begin === undefined || begin.starts === 1) {
    // A stateless run that was begun anew has all of it in the last one.
    return executions.length === 1 || last?.run ? last : undefined
  }
  return last?.start === begin.starts ? last : undefined
}

/** The superstep after a checkpoint: a run without one begins with the first. */
function stepAfter(head: StoredTuple | undefined): number {
  const step = head && memberOf(valueIn(head.metadata), 'step')
  return typeof step === 'number' ? Math.max(1, step + 1) : 1
}

async function beginOf({ threads }: RecordedRunParts,
  { tenant, threadId, runId }: RunPlaceName): Promise<ReplayBegin | undefined> {
  const answer = await threads.replayBase(tenant, threadId, runId, { kind: 'begin' })
    .catch(ignoreNotFound)
  return answer?.begin
}

/** A stateless run begins with nothing: its recording has all that it needs. */
function statelessOf(graphId: string,
  { revision, request, status, error, values }: StatelessRun
): Pick<RecordedRun, 'begin' | 'source' | 'values' | 'waits'> {
  return { source: { tuple: async () => undefined, list: async () => [] },
    values: values ?? undefined, waits: undefined,
    begin: { graphId, request, headId: null, startedAtMs: 0, status, finalCheckpointId: '',
      errorJson: error ? JSON.stringify(error) : '', starts: 1, revision } }
}

async function endOf({ threads }: RecordedRunParts, { tenant, threadId }: RunPlaceName,
  begin: ReplayBegin): Promise<Pick<RecordedRun, 'values' | 'waits'>> {
  const { finalCheckpointId: checkpointId, status } = begin
  if (checkpointId === '' || status !== 'success') return { values: undefined, waits: undefined }
  const state = await threads.state(tenant, threadId, { checkpointId, checkpointNs: '',
    subgraphs: false, select: ['values', 'next'] }).catch(ignoreNotFound)
  const { values, next } = state === undefined
    ? {}
    : valueIn(state) as { readonly values?: unknown; readonly next?: unknown }
  // A run that waits is a success, too: it is known by the nodes that are left.
  const waits = Array.isArray(next) ? next.length > 0 : undefined
  return { waits, values: values === undefined
    ? undefined
    : withUntracked(JSON.stringify(values), begin.untracked) }
}
