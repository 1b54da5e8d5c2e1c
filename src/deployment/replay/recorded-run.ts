/** A run of a deployment as it was recorded: how it began, how it ended, and its calls. */

import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { decodeBlock, executionsIn, statelessRunIn } from '../../graph/index.ts'
import type { CheckpointSource, StatelessRun } from '../../graph/index.ts'
import { memberOf, valueIn } from '../../json/index.ts'
import type { Platform } from '../../platform/index.ts'
import { tuplesIn } from '../../thread/index.ts'
import type { ReplayBegin, ThreadClient } from '../../thread/index.ts'

/** The stores that runs are read from. */
export interface RecordedRunParts {
  readonly threads: Pick<ThreadClient, 'replayBase' | 'state'>
  readonly recordings: Pick<Platform['query'], 'recordedBlocks' | 'labelledRecordings'>
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
  readonly source: CheckpointSource
  /** JSON of the values at its end; undefined if they cannot be read. */
  readonly values: string | undefined
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
  const executions = await Promise.all(blocks.map(decodeBlock)).then(executionsIn, () => undefined)
  if (executions === undefined) return lost('Its recording cannot be read.')
  const [execution] = executions
  if (execution === undefined || executions.length > 1 || (begin?.starts ?? 1) > 1) {
    return lost('It was executed in several parts, as its worker or its member ended meanwhile.',
      execution?.graphId)
  }
  if (execution.isCut) {
    return lost('Its recording is cut: calls, bodies or its input are missing.', execution.graphId)
  }
  const known = { blocks, startedAtMs: execution.startedAtMs, calls: execution.calls.length }
  if (execution.run) {
    const own = statelessRunIn(execution.run)
    return own ? { ...known, ...statelessOf(execution.graphId, own) } : lost('It cannot be read.')
  }
  if (begin === undefined) return lost('Its thread was removed.')
  const read = async (reading: Parameters<ThreadClient['replayBase']>[3]) =>
    tuplesIn(await parts.threads.replayBase(tenant, threadId, runId, reading))
  const source: CheckpointSource = {
    tuple: async (ns, checkpointId) => (await read({ kind: 'tuple', ns, checkpointId }))[0],
    list: (query) => read({ kind: 'list', query }),
  }
  try {
    if (begin.headId !== null) await source.tuple('', begin.headId)
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_found') throw error
    return lost('The history before it was removed.')
  }
  return { ...known, begin, source, values: await valuesOf(parts, place, begin) }
}

async function beginOf({ threads }: RecordedRunParts,
  { tenant, threadId, runId }: RunPlaceName): Promise<ReplayBegin | undefined> {
  const answer = await threads.replayBase(tenant, threadId, runId, { kind: 'begin' })
    .catch(ignoreNotFound)
  return answer?.begin
}

/** A stateless run begins with nothing: its recording has all that it needs. */
function statelessOf(graphId: string,
  { revision, request, status, error, values }: StatelessRun): Pick<RecordedRun,
    'begin' | 'source' | 'values'> {
  return { source: { tuple: async () => undefined, list: async () => [] },
    values: values ?? undefined,
    begin: { graphId, request, headId: null, startedAtMs: 0, status, finalCheckpointId: '',
      errorJson: error ? JSON.stringify(error) : '', starts: 1, revision } }
}

async function valuesOf({ threads }: RecordedRunParts, { tenant, threadId }: RunPlaceName,
  { finalCheckpointId: checkpointId, status }: ReplayBegin): Promise<string | undefined> {
  if (checkpointId === '' || status !== 'success') return undefined
  const state = await threads.state(tenant, threadId, { checkpointId, checkpointNs: '',
    subgraphs: false, select: ['values'] }).catch(ignoreNotFound)
  const values = state === undefined ? undefined : memberOf(valueIn(state), 'values')
  return values === undefined ? undefined : JSON.stringify(values)
}
