/** Changes of a revision against the active one, as sentences: the report of a check. */

import { counted } from '../parts/amounts.ts'
import type { Report } from '../api/control/deployment.ts'

/** The sentences, what needs care first. A part that is not there says nothing. */
export function reportWords(report: Partial<Report>): readonly string[] {
  const { graphs_removed: graphsGone = [], nodes_removed: nodesGone = [],
    channels_removed: channelsGone = [], wants_env_missing: missing = [], graphs_added: graphs = [],
    nodes_added: nodes = [] } = report
  const words = [
    ...graphsGone.map((graph) => `It has no graph ${graph} any more.`),
    ...nodesGone.map(({ graph_id: graph, node, waiting_threads: waiting }) =>
      `It has no node ${node} of ${graph} any more${waitingWords(waiting)}.`
    ),
    ...channelsGone.map(({ graph_id: graph, channel }) =>
      `The state of ${graph} has no ${channel} any more.`
    ),
    ...missing.length === 0 ? [] : [`No secret is set for ${missing.join(', ')}.`],
    ...graphs.map((graph) => `Graph ${graph} is new.`),
    ...nodes.map(({ graph_id: graph, node }) => `Node ${node} of ${graph} is new.`),
  ]
  return words.length === 0 ? ['Graphs, nodes and state are those of the active revision.'] : words
}

function waitingWords(threads: number | null): string {
  if (threads === null) return ': threads may wait there, which were too many to count'
  if (threads === 0) return ''
  const does = threads === 1 ? ['waits', 'goes'] : ['wait', 'go']
  return `: ${counted(threads, 'thread')} ${does[0]} there, and ${does[1]} on with the revision ` +
    'that has it'
}
