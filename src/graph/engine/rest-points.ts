/** Points between the supersteps of a run at which it may stop for the server. */

import { memberOf } from '../../json/index.ts'
import type { RunRequest } from '../execution.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import { hasOpenCalls, messagesChannel } from './added-messages.ts'
import type { DrainControl } from './drain-control.ts'

/** Called with the state after each superstep of the graph itself that was executed here. */
type Stepped = (values: Readonly<Record<string, unknown>>) => void

/**
 * Sets how the control detects that the input is in the state. Returns a function that reports
 * where messages may be added, or undefined for a run with breakpoints: it would go past the
 * breakpoint at which it stops for messages.
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
 * Returns true if the graph has a superstep before its nodes that adds the input to the values. If
 * the graph has a condition at the start, that superstep executes code of the project: false.
 */
function hasInputStep({ nodes, builder }: ServedGraph): boolean {
  return '__start__' in nodes && memberOf(memberOf(builder, 'branches'), '__start__') === undefined
}
