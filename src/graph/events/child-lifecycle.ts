/** When the graphs and nodes below the root of a run begin and end, as their events show it. */

import { namespaceAround } from '../../checkpoint/index.ts'
import { isList, memberOf, textAt } from '../../json/index.ts'
import { isTask } from './task-payload.ts'
import type { TaskPayload } from './task-payload.ts'

/** The `data` of a `lifecycle` event. */
export interface LifecycleData {
  readonly event: 'started' | 'completed' | 'failed' | 'interrupted'
  readonly graph_name: string
  readonly cause?: { readonly type: 'toolCall'; readonly tool_call_id: string }
  readonly error?: string
}

/** A namespace counts as begun with its first event, and ends with the task that it belongs to. */
export class ChildLifecycle {
  readonly #notify: (namespace: readonly string[], data: LifecycleData) => void
  /** Names of those that have begun and not ended, by namespace. */
  readonly #begun = new Map<string, { namespace: readonly string[]; name: string }>()
  readonly #ended = new Set<string>()
  /** Those whose task has no result: older engines say so of tasks that failed as well. */
  readonly #unclear = new Set<string>()
  /** Names that agents have given themselves. */
  readonly #agents = new Map<string, string>()
  /** The tool calls that tasks execute, by task. */
  readonly #toolCalls = new Map<string, string>()

  constructor(notify: (namespace: readonly string[], data: LifecycleData) => void) {
    this.#notify = notify
  }

  /** Something came from a namespace: it and those around it have begun. */
  see(namespace: readonly string[]): void {
    for (let length = 1; length <= namespace.length; length++) {
      const inner = namespace.slice(0, length)
      const key = inner.join('|')
      if (!this.#begun.has(key) && !this.#ended.has(key)) this.#begin(inner, key)
    }
  }

  /** A task of the graph at a namespace begins or ends. */
  task(namespace: readonly string[], payload: unknown): void {
    if (!isTask(payload)) return
    const task = payload
    if (!('result' in task)) return this.#note(namespace.join('|'), task)
    const key = [...namespace, `${task.name}:${task.id}`].join('|')
    const end = endOf(task)
    if (end.event === 'completed' && isEmpty(task.result)) this.#unclear.add(key)
    else this.#end(key, end)
  }

  /** The superstep of the graph at a namespace is done: none of its tasks has failed. */
  stepDone(namespace: readonly string[]): void {
    const parent = namespace.join('|')
    for (const key of this.#unclear) {
      if (namespaceAround(key) !== parent) continue
      this.#end(key, { event: 'completed' })
      this.#unclear.delete(key)
    }
  }

  /** The run has ended. */
  end(event: 'completed' | 'failed' | 'interrupted'): void {
    for (const key of this.#begun.keys()) this.#end(key, { event })
  }

  #begin(namespace: readonly string[], key: string): void {
    const last = namespace.at(-1)!
    const [node = last, taskId = ''] = last.split(':')
    const agent = this.#agents.get(key)
    const toolCallId = agent === undefined ? undefined : this.#toolCalls.get(taskId)
    const name = agent ?? node
    this.#begun.set(key, { namespace, name })
    this.#notify(namespace, { event: 'started', graph_name: name,
      ...toolCallId !== undefined && { cause: { type: 'toolCall', tool_call_id: toolCallId } } })
  }

  /** Ends a namespace. The namespaces inside it end first. */
  #end(key: string, how: Omit<LifecycleData, 'graph_name'>): void {
    const inner = [...this.#begun].filter(([each]) => each === key || each.startsWith(`${key}|`))
    for (const [each, { namespace, name }] of inner.toReversed()) {
      this.#begun.delete(each)
      this.#unclear.delete(each)
      this.#ended.add(each)
      this.#notify(namespace, { ...each === key ? how : { event: how.event }, graph_name: name })
    }
  }

  #note(key: string, { id, input, metadata }: TaskPayload): void {
    const agent = memberOf(metadata, 'lc_agent_name')
    if (typeof agent === 'string' && agent !== '' && key !== '') this.#agents.set(key, agent)
    const call = toolCallOf(input)
    if (call !== undefined) this.#toolCalls.set(id, call)
  }
}

function endOf({ error, interrupts }: TaskPayload): Omit<LifecycleData, 'graph_name'> {
  if (error != null) {
    return { event: 'failed', error: typeof error === 'string' ? error : JSON.stringify(error) }
  }
  return { event: interrupts && interrupts.length > 0 ? 'interrupted' : 'completed' }
}

function isEmpty(result: unknown): boolean {
  return typeof result !== 'object' || result === null || Object.keys(result).length === 0
}

/** The call in the input of a task that executes a tool. */
function toolCallOf(input: unknown): string | undefined {
  const calls = isList(input)
    ? input
    : [memberOf(input, 'lg_tool_call'), memberOf(input, 'tool_call')]
  return calls.map((each) => textAt(each, 'id')).find((id) => id !== undefined)
}
