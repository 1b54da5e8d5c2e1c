/** Events of the `lifecycle` mode: one when a subgraph starts, and one when it ends. */

import { memberOf, textAt } from '../../json/index.ts'
import type { TaskPayload } from './task-payload.ts'

/** Why a subgraph failed. */
interface SubgraphFailure {
  readonly error: string
  readonly message: string
}

/** End of a run or of a subgraph: an object names the error of one that failed. */
export type RunEnd = 'completed' | 'interrupted' | SubgraphFailure

type Namespace = readonly string[]

/** Sees the tasks of all graphs of a run. A task with a subgraph has its namespace as its name. */
export class SubgraphLifecycle {
  readonly #notify: (name: string, payload: unknown) => void
  /** The subgraphs in progress, in the order in which they started. */
  readonly #open = new Map<string, Namespace>()
  /** Of tasks that start for one tool call: its id. */
  readonly #toolCalls = new Map<string, string>()

  constructor(notify: (name: string, payload: unknown) => void) {
    this.#notify = notify
  }

  /** Takes a chunk of the engine's `tasks` mode. */
  task(namespace: Namespace, task: TaskPayload): void {
    this.#begin(namespace)
    const own = [...namespace, `${task.name}:${task.id}`]
    const toolCall = toolCallOf(task.input)
    if (toolCall !== undefined) this.#toolCalls.set(keyOf(own), toolCall)
    if (task.result !== undefined || task.error != null) this.#end(own, task)
  }

  /** The run has ended: whatever is left of it has ended as the run did. */
  close(how: RunEnd): void {
    const open = [...this.#open.values()].toReversed()
    for (const namespace of open) {
      if (typeof how === 'string') this.#emit(how, namespace)
      else this.#emit('failed', namespace, { error: how })
    }
    this.#open.clear()
  }

  /** The first task of a subgraph says that it has started, and so have those around it. */
  #begin(namespace: Namespace): void {
    for (let depth = 1; depth <= namespace.length; depth++) {
      const around = namespace.slice(0, depth)
      const key = keyOf(around)
      if (this.#open.has(key)) continue
      this.#open.set(key, around)
      this.#emit('started', around)
    }
  }

  #end(own: Namespace, { error, interrupts = [] }: TaskPayload): void {
    const ended = [...this.#open.values()].filter((each) =>
      own.every((segment, at) => each[at] === segment)
    )
    for (const namespace of ended.toReversed()) {
      if (error != null) this.#emit('failed', namespace, { error: failureOf(error) })
      else this.#emit(interrupts.length > 0 ? 'interrupted' : 'completed', namespace)
      this.#open.delete(keyOf(namespace))
    }
  }

  #emit(event: string, namespace: Namespace, more: object = {}): void {
    const toolCall = this.#toolCalls.get(keyOf(namespace))
    this.#notify(`lifecycle|${keyOf(namespace)}`, {
      event,
      namespace,
      ...toolCall !== undefined && { tool_call_id: toolCall },
      ...more,
    })
  }
}

function keyOf(namespace: Namespace): string {
  return namespace.join('|')
}

function failureOf(error: unknown): SubgraphFailure {
  return { error: textAt(error, 'name') ?? 'Error',
    message: textAt(error, 'message') ?? String(error) }
}

/** The tool call that a task of a tool node gets as its whole input. */
function toolCallOf(input: unknown): string | undefined {
  return memberOf(input, '__type') === 'tool_call_with_context'
    ? textAt(memberOf(input, 'tool_call'), 'id')
    : undefined
}
