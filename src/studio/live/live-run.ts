/** State of a run while it is under way: a pure reduction of its events. */

import type { StreamEvent } from '../api/event-stream.ts'
import { kindOf, withPiece } from './message-merge.ts'
import type { ChatMessage } from './message-merge.ts'
import type { NodeState, NodeStates } from './node-state.ts'

/** Stream modes that a page needs: none of them has a whole state, nor the input of a task. */
export const liveModes = ['messages-tuple', 'tasks-lean', 'lifecycle', 'updates', 'custom'] as const

/** State of a run that the page follows. */
export interface LiveRun {
  readonly runId: string
  /** 2 and more after a failure of a worker or a server. */
  readonly attempt: number
  /** The id of the event that began the attempt. */
  readonly startId: string | undefined
  readonly nodes: NodeStates
  /** The node that spoke last, by its id in the picture. */
  readonly last: string | undefined
  /** Messages of its nodes so far, by message id, in the order in which they began. */
  readonly messages: ReadonlyMap<string, ChatMessage>
  /** Its newest events about components, of any form; missing before the first. */
  readonly ui?: readonly unknown[]
  /** Counts what ended at the root: each made a step, or will soon. */
  readonly steps: number
  readonly error: { readonly error?: string; readonly message?: string } | undefined
  readonly over: boolean
  /** By the clock of the page. */
  readonly beganMs: number
  /** When it was over, by the same clock; undefined before. */
  readonly overMs: number | undefined
}

/** A run of which nothing is known yet. */
export const begun = (runId: string, beganMs: number): LiveRun => ({ runId, attempt: 1,
  startId: undefined, nodes: {}, last: undefined, messages: new Map(), steps: 0, error: undefined,
  over: false, beganMs, overMs: undefined })

/** The run when it has ended: what still ran was stopped, and would run next. */
export const ended = (run: LiveRun, overMs: number): LiveRun => ({ ...run, over: true, overMs,
  nodes: stoppedNodes(run.nodes) })

function stoppedNodes(nodes: NodeStates): NodeStates {
  return Object.fromEntries(
    Object.entries(nodes).map((
      [id, node],
    ): [string, NodeState] => [id, node.state === 'running' ? { ...node, state: 'next' } : node]),
  )
}

interface Task {
  readonly event: 'started' | 'completed' | 'failed' | 'interrupted'
  readonly name: string
}

const stateOf = { started: 'running', completed: 'done', failed: 'failed',
  interrupted: 'waiting' } as const

/**
 * The run after an event. `seenMs` is when the event was made, by the clock of the server; null if
 * it is an old one of which that is not known.
 */
export function after(run: LiveRun, event: StreamEvent, seenMs: number | null): LiveRun {
  const [mode = '', ...path] = event.event.split('|')
  switch (mode) {
    case 'metadata':
      return attempted(run, event.id, JSON.parse(event.text) as { attempt?: number })
    case 'tasks-lean':
      return tasked(run, path, JSON.parse(event.text) as Task, seenMs)
    case 'messages':
      return spoken(run, JSON.parse(event.text) as [ChatMessage, Said?])
    case 'custom':
      return event.text.includes('ui"') ? shown(run, JSON.parse(event.text)) : run
    case 'error':
      return { ...run, error: JSON.parse(event.text) as LiveRun['error'] }
    default:
      return run
  }
}

/**
 * A new attempt says again what was not done: the pieces of the one before are gone. A run that
 * another server resumed has the same attempt, and another place of its beginning.
 */
function attempted(run: LiveRun, id: string, said: { readonly attempt?: number }): LiveRun {
  if (run.startId === undefined) return { ...run, startId: id, attempt: said.attempt ?? 1 }
  if (id === run.startId) return run
  const attempt = Math.max(said.attempt ?? 1, run.attempt + 1)
  return { ...run, attempt, startId: id, nodes: stoppedNodes(run.nodes), messages: new Map(),
    ui: [], steps: run.steps + 1 }
}

function tasked(run: LiveRun, path: readonly string[], { event, name }: Task,
  seenMs: number | null): LiveRun {
  const id = nodeId(path, name)
  const nodes = { ...run.nodes, [id]: taskedNode(run.nodes[id], event, seenMs) }
  const isRoot = path.length === 0
  return { ...run, nodes, last: event === 'started' ? id : run.last,
    steps: isRoot && event !== 'started' ? run.steps + 1 : run.steps }
}

function taskedNode(before: NodeState | undefined, event: Task['event'],
  seenMs: number | null): NodeState {
  const times = before?.times ?? 0
  return event === 'started'
    ? { state: 'running', times: times + 1, startedMs: seenMs, endedMs: null }
    : { state: stateOf[event], times: Math.max(1, times), startedMs: before?.startedMs ?? null,
      endedMs: seenMs }
}

interface Said {
  readonly langgraph_node?: string
}

function spoken(run: LiveRun, [piece]: [ChatMessage, Said?]): LiveRun {
  const id = piece.id ?? ''
  if (id === '' || kindOf(piece) === 'remove') return run
  const messages = new Map(run.messages)
  messages.set(id, withPiece(messages.get(id), piece))
  return { ...run, messages }
}

/** Events about components that are kept. */
const uiEventsMax = 1_000

function shown(run: LiveRun, event: unknown): LiveRun {
  return { ...run, ui: [...run.ui ?? [], event].slice(-uiEventsMax) }
}

/** The id in the picture: `research:plan` for `plan` in the namespace `research:<uuid>`. */
function nodeId(namespace: readonly string[], name: string): string {
  return [...namespace.map((each) => each.split(':', 1)[0]!), name].join(':')
}
