/** The state values at a checkpoint: joined from stored text, or worked out by the graph. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../checkpoint/index.ts'
import type { GraphDescription } from '../graph/index.ts'
import { sharedConfigurable } from './run-request.ts'
import { asks } from './run-result.ts'
import type { ThreadSetting } from './thread-setting.ts'
import { graphOfRun } from './thread-setting.ts'

export interface ValuesPlace {
  readonly checkpointId: string
  /** For the head: adds what finished tasks wrote while other tasks still wait. */
  readonly withTasks?: boolean
}

/** Reads what is on disk. If the graph is not known: all channels that are stored. */
export async function valuesAt({ ports: { host }, ledger, threadId }: ThreadSetting,
  graph: GraphDescription | undefined, { checkpointId, withTasks = false }: ValuesPlace):
  Promise<JsonText> {
  if (!graph || graph.stateChannels === null || (graph.plain && !withTasks)) {
    return ledger.values(checkpointId, graph?.stateChannels ?? null)
  }
  const place = withTasks ? null : checkpointId
  const configurable = sharedConfigurable(ledger.state.row)
  const question =
    { kind: 'state', configurable, ns: '', checkpointId: place, subgraphs: false } as const
  const [answer] = await host.ask(graph.graphId, threadId, question, ledger.settled)
  if (!answer) return '{}'
  return answer.valuesOf === '' ? answer.values
    : ledger.values(answer.valuesOf, graph.stateChannels)
}

/** The values that a run left, once its end is on disk. `isAtRest`: no run is executed now. */
export async function valuesOf(setting: ThreadSetting, run: RunRow, isAtRest: () => boolean):
  Promise<JsonText> {
  const { finalCheckpointId: checkpointId } = run
  if (checkpointId === '' || run.errorJson !== '') return '{}'
  const isHead = () => isAtRest() && setting.ledger.state.row.head?.id === checkpointId
  const graph = graphOfRun(run, setting)
  const withTasks = asks(run) && isHead()
  const values = await valuesAt(setting, graph, { checkpointId, withTasks })
  // A later run may have begun meanwhile.
  return !withTasks || isHead() ? values : valuesAt(setting, graph, { checkpointId })
}

/** The same if nothing has to be read for it; undefined otherwise. */
export function valuesAtHand(setting: ThreadSetting, run: RunRow): JsonText | undefined {
  const graph = graphOfRun(run, setting)
  if (!graph?.plain || graph.stateChannels === null) return undefined
  return setting.ledger.recentView(run.finalCheckpointId)?.json(graph.stateChannels)
}
