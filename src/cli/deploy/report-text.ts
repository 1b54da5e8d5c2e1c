/** Texts for the result of a check. */

import type { ControlReport, ControlRevision } from '../../api/index.ts'
import { count } from '../control/move-text.ts'

/** A line for the graphs, and one for each difference that matters. */
export function reportTexts({ graphs }: Pick<ControlRevision, 'graphs'>, report: ControlReport,
  active: string | null): string[] {
  const isNew = (id: string) => active !== null && report.graphs_added.includes(id)
  const sizes = graphs.map(({ graph_id: id, nodes }) =>
    `${id}${isNew(id) ? ' (new)' : ''}: ${count(nodes.length, 'node')}`
  )
  return [
    sizes.join(', '),
    ...report.graphs_removed.map((id) => `Removes graph "${id}"`),
    ...report.nodes_removed.map(({ graph_id: id, node, waiting_threads: waiting }) =>
      `Removes node "${node}" of ${id}${waitingText(waiting, active)}`
    ),
    ...report.channels_removed.map(({ graph_id: id, channel }) =>
      `Removes channel "${channel}" of ${id}: its values are no longer in states`
    ),
  ]
}

function waitingText(waiting: number | null, active: string | null): string {
  if (waiting === null || waiting === 0) return ''
  const [threads, verb] = [count(waiting, 'thread'), waiting === 1 ? 'waits' : 'wait']
  return `: ${threads} ${verb} there; ${waiting === 1 ? 'it' : 'they'} will go on with ` +
    `${active ?? 'the revision before'}`
}

/** Names that the project's own variables have and the deployment lacks; undefined if none. */
export function missingSecretsText({ wants_env_missing: names }: ControlReport, deployment: string):
  | string
  | undefined {
  if (names.length === 0) return undefined
  return `the deployment lacks ${names.join(', ')}: heddle secrets set ${names.join(' ')} ` +
    `-d ${deployment}`
}
