/** Points between the supersteps of a run at which it may stop for the server. */

import { memberOf } from '../../json/index.ts'
import type { RunRequest } from '../execution.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import { hasOpenCalls, messagesChannel } from './added-messages.ts'
import type { DrainControl } from './drain-control.ts'

/** Called with the state after each superstep of the graph itself that was executed here. */
type Stepped = (values: Readonly<Record<string, unknown>>) => void

/**
 * Tells the control when the input is in the state, and where messages may be added. Returns
 * undefined for a run with breakpoints: it would go past the one at which it stops for messages.
 */
export function restPoints(graph: ServedGraph, asked: RunRequest, control: DrainControl):
  | Stepped
  | undefined {
  control.readsForInput = hasInputStep(graph) ? 2 : 1
  const { interruptBefore, interruptAfter } = graph
  const breakpoints = [interruptBefore, interruptAfter, asked.interruptBefore, asked.interruptAfter]
  if (breakpoints.some((nodes) => nodes != null && nodes.length > 0)) return undefined
  return (values) => control.restsAt(!hasOpenCalls(values[messagesChannel]))
}

/**
 * True for a graph that adds its input to the values in a superstep of its own. A condition at the
 * start is code of the project, so its superstep counts as one of the graph.
 */
function hasInputStep({ nodes, builder }: ServedGraph): boolean {
  return '__start__' in nodes && memberOf(memberOf(builder, 'branches'), '__start__') === undefined
}
