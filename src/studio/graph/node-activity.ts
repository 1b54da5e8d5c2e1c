/** Activity of nodes and edges of a drawing: pure readings of the states of its nodes. */

import type { NodeState, NodeStates } from '../live/node-state.ts'
import { count, duration } from '../parts/amounts.ts'
import type { Drawing, DrawnEdge, DrawnNode } from './drawing.ts'

/** `active`: its target runs now because of it; `taken`: the run went along it. */
export type EdgeActivity = 'idle' | 'active' | 'taken'

/** The more urgent state of a folded box wins. */
const urgency = ['running', 'failed', 'waiting', 'next', 'done'] as const

/** Activity of a drawn node: its own state, or that of the nodes inside; undefined for none. */
export function activityOf(node: DrawnNode, states: NodeStates): NodeState | undefined {
  if (node.kind !== 'folded' && Object.hasOwn(states, node.id)) return states[node.id]
  const inside = Object.entries(states)
    .filter(([id]) => id === node.id || id.startsWith(`${node.id}:`)).map(([, state]) => state)
  const state = urgency.find((each) => inside.some((one) => one.state === each))
  if (state === undefined) return undefined
  const times = (pick: (one: NodeState) => number | null) =>
    inside.map(pick).filter((ms) => ms !== null)
  const started = times(({ startedMs }) => startedMs)
  const ended = times(({ endedMs }) => endedMs)
  return { state, times: 1, startedMs: started.length === 0 ? null : Math.min(...started),
    endedMs: state !== 'done' || ended.length === 0 ? null : Math.max(...ended) }
}

/** Activity of each edge, by its id. */
export function edgeActivities(drawing: Drawing,
  states: NodeStates): ReadonlyMap<string, EdgeActivity> {
  const nodes = new Map(drawing.nodes.map((node) => [node.id, node]))
  const shown = new Map(drawing.nodes.map((node) => [node.id, activityOf(node, states)]))
  const all = [...shown.values()].filter((state) => state !== undefined)
  const isOver = all.length > 0 && all.every(({ state }) => state === 'done')
  const lastMs = Math.max(...all.map(({ endedMs }) => endedMs ?? -Infinity))
  const one = (edge: DrawnEdge): EdgeActivity => {
    const from = shown.get(edge.source)
    const to = shown.get(edge.target)
    if (nodes.get(edge.target)?.kind === 'end') {
      const isLast = isOver && from !== undefined && from.endedMs !== null
        && from.endedMs >= lastMs - 1
      return isLast ? 'taken' : 'idle'
    }
    if (to === undefined || to.state === 'next' || to.startedMs === null) return 'idle'
    const isStart = nodes.get(edge.source)?.kind === 'start'
    const wentAlong = isStart || (from !== undefined && from.endedMs !== null &&
      // Both times are of one clock, in whole milliseconds.
      to.startedMs >= from.endedMs - 1)
    if (!wentAlong) return 'idle'
    if (to.state !== 'running') return 'taken'
    return isStart && to.times > 1 ? 'taken' : 'active'
  }
  return new Map(drawing.edges.map((edge) => [edge.id, one(edge)]))
}

/** Announcement for screen readers while a graph runs: "research, plan is running". */
export function spoken(states: NodeStates): string {
  const named = (wanted: NodeState['state']) =>
    Object.entries(states).filter(([, { state }]) => state === wanted)
      .map(([id]) => id.replaceAll(':', ', '))
  const running = named('running')
  if (running.length > 0) {
    return `${running.join(' and ')} ${running.length === 1 ? 'is' : 'are'} running`
  }
  const waiting = named('waiting')
  return waiting.length > 0 ? `${waiting.join(' and ')} waits for you` : ''
}

/** "×2" for a node that started more than once. */
export const timesWords = (activity: NodeState | undefined): string =>
  activity !== undefined && activity.times > 1 ? `×${count(activity.times)}` : ''

/**
 * Duration of a node in words; empty where a time is not known. Of what failed no state keeps it:
 * it is shown neither while one watches nor later.
 */
export function durationWords(activity: NodeState | undefined): string {
  if (activity?.state === 'failed') return ''
  const { startedMs = null, endedMs = null } = activity ?? {}
  return startedMs === null || endedMs === null ? '' : duration(Math.max(0, endedMs - startedMs))
}
