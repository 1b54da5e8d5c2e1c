/** The state values at a checkpoint: joined from stored text, or worked out by the graph. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { withUntracked } from '../../graph/index.ts'
import type { ReadAllowance } from '../../limits/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { graphOfRun } from '../context/thread-graphs.ts'
import type { HostedGraph } from '../context/thread-graphs.ts'
import { hasQuestions } from '../model/rest.ts'
import { LimitedSource } from '../log/limited-source.ts'
import { sharedConfigurable } from '../model/run-request.ts'

/** The checkpoint whose values are asked for. */
export interface ValuesPlace {
  readonly checkpointId: string
  /** For the head: adds what finished tasks wrote while other tasks still wait. */
  readonly withTasks?: boolean
}

/** Bytes that are reserved at first for reading one state: most states are much smaller. */
export const stateBytes = 4 * 1024 * 1024

/** Caller of a read: its cancellation, and the bytes that it takes at most. */
export interface ReadRequest {
  readonly cancelled?: AbortSignal | undefined
  /** Throws `too_large`, with what it takes as the fact `bytes`, if that is more. */
  readonly most?: number | undefined
}

/** Reads what is on disk. If the graph is not known: all channels that are stored. */
export async function valuesAt(context: ThreadContext, hosted: HostedGraph | undefined,
  place: ValuesPlace, { cancelled, most }: ReadRequest = {}): Promise<JsonText> {
  const { ports: { reads }, threadLog, tenant } = context
  const { checkpointId, withTasks = false } = place
  const graph = hosted?.graph
  const isStored = !graph || graph.stateChannels === null || (graph.plain && !withTasks)
  const view = isStored ? threadLog.recentView(checkpointId) : undefined
  const channels = graph?.stateChannels ?? null
  if (view && channels !== null && view.bytes <= (most ?? Infinity)) return view.json(channels)
  return reads.read({ tenant, bytes: stateBytes, most, cancelled }, (allowance) => (isStored
    ? threadLog.values(checkpointId, channels, allowance)
    : askedValues(context, hosted!, { checkpointId, withTasks }, allowance)))
}

async function askedValues({ threadLog, threadId }: ThreadContext, { graph, host }: HostedGraph,
  { checkpointId, withTasks }: ValuesPlace, allowance: ReadAllowance): Promise<JsonText> {
  const place = withTasks ? null : checkpointId
  const configurable = sharedConfigurable(threadLog.state.row)
  const question = { kind: 'state', configurable, ns: '', checkpointId: place,
    subgraphs: false } as const
  const source = new LimitedSource(threadLog.settled, allowance)
  const [answer] = await host.ask(graph.graphId, threadId, question, source, source.cancelled)
  if (!answer) return '{}'
  return answer.valuesOf === ''
    ? answer.values
    : threadLog.values(answer.valuesOf, graph.stateChannels, allowance)
}

/**
 * Returns the values of a run's result, with its untracked values, once its end is on disk.
 * `isAtRest`: no run is executed now.
 */
export async function valuesOf(context: ThreadContext, run: RunRow,
  isAtRest: () => boolean): Promise<JsonText> {
  const { finalCheckpointId: checkpointId } = run
  if (checkpointId === '' || run.errorJson !== '') return '{}'
  const isHead = () => isAtRest() && context.threadLog.state.row.head?.id === checkpointId
  const graph = graphOfRun(run, context)
  const withTasks = hasQuestions(run) && isHead()
  const values = await valuesAt(context, graph, { checkpointId, withTasks })
  // Another run may have started in the meantime.
  const stable = !withTasks || isHead() ? values : await valuesAt(context, graph, { checkpointId })
  return withUntracked(stable, await untrackedOf(context, run))
}

/** Returns the values of a run's last checkpoint, with its untracked values. */
export async function valuesAtEnd(context: ThreadContext, run: RunRow): Promise<JsonText> {
  const { finalCheckpointId: checkpointId } = run
  const values = await valuesAt(context, graphOfRun(run, context), { checkpointId })
  return withUntracked(values, await untrackedOf(context, run))
}

/**
 * Reads the untracked values of an ended run: a JSON object. Returns undefined if the run has none,
 * or if the row of its end was removed.
 */
export async function untrackedOf({ threadLog }: ThreadContext,
  run: RunRow): Promise<JsonText | undefined> {
  if (!run.hasUntracked) return undefined
  const records = await threadLog.recordsAt(run.lastSeq)
  const ends = records.flatMap((record) =>
    record.$case === 'runEnded' && record.value.runId === run.runId ? [record.value] : []
  )
  return ends.at(-1)?.untrackedJson
}

/** The same if nothing has to be read for it; undefined otherwise. */
export function valuesAtHand(context: ThreadContext, run: RunRow): JsonText | undefined {
  const graph = graphOfRun(run, context)?.graph
  if (!graph?.plain || graph.stateChannels === null) return undefined
  return context.threadLog.recentView(run.finalCheckpointId)?.json(graph.stateChannels)
}
