/** The `messages` events of one run: several answers may stream at the same time. */

import { listOf, memberOf, textAt } from '../../json/index.ts'
import { StreamedMessage } from './streamed-message.ts'
import type { MessageChunk, MessageData } from './streamed-message.ts'
import { isTask } from './task-payload.ts'

/** Origin of a message's events: the namespace and the node that made it. */
export interface MessagePlace {
  readonly namespace: readonly string[]
  readonly node: string
}

/** An answer that is not complete. */
interface Growing {
  readonly stream: StreamedMessage
  /** The namespace of the task that it is from. */
  readonly task: string
}

/** Takes `[message, metadata]` of the engine's stream. */
export class ProtocolMessages {
  readonly #notify: (place: MessagePlace, data: MessageData) => void
  readonly #growing = new Map<string, Growing>()
  readonly #complete = new Set<string>()

  constructor(notify: (place: MessagePlace, data: MessageData) => void) {
    this.#notify = notify
  }

  chunk(at: readonly string[], payload: unknown): void {
    const [message, metadata] = listOf(payload)
    if (!isMessage(message)) return
    const { id } = message
    if (!id || this.#complete.has(id)) return
    const namespace = taskOf(at, metadata)
    const type = message._getType?.() ?? 'ai'
    const place = placeOf(namespace, type, textAt(metadata, 'langgraph_node'))
    const known = this.#growing.get(id)
    if (known) return known.stream.add(message)
    const stream = new StreamedMessage(id, (data) => this.#notify(place, data))
    stream.start(type, message.tool_call_id)
    if (isChunk(message) && type === 'ai') {
      this.#growing.set(id, { stream, task: namespace.join('|') })
      return stream.add(message)
    }
    this.#complete.add(id)
    stream.whole(message)
  }

  /** Answers are complete when the task has ended that asked for them. */
  task(namespace: readonly string[], payload: unknown): void {
    if (!isTask(payload) || !('result' in payload)) return
    const { id, name } = payload
    const key = [...namespace, `${name}:${id}`].join('|')
    for (const [messageId, { stream, task }] of this.#growing) {
      if (task !== key && !task.startsWith(`${key}|`)) continue
      this.#end(messageId)
      stream.finish()
    }
  }

  /** The run has ended; with an error, the answers that are not complete have failed. */
  end(error: string | undefined): void {
    for (const [messageId, { stream }] of this.#growing) {
      this.#end(messageId)
      if (error === undefined) stream.finish()
      else stream.fail(error)
    }
  }

  #end(messageId: string): void {
    this.#growing.delete(messageId)
    this.#complete.add(messageId)
  }
}

/** The namespace of the task: from 1.7.0 on, the engine streams messages at that of its graph. */
function taskOf(at: readonly string[], metadata: unknown): readonly string[] {
  return textAt(metadata, 'langgraph_checkpoint_ns')?.split('|') ?? at
}

/** The members of a message are the library's; all are optional here. */
function isMessage(value: unknown): value is MessageChunk {
  return typeof value === 'object' && value !== null
}

/** Roles are the types of messages; `ChatMessage` has one of its own. */
function isChunk(message: MessageChunk): boolean {
  return typeof memberOf(message, 'concat') === 'function'
}

/**
 * The graph's namespace, where every client looks. Output of a model inside of a tool is not a
 * message of the graph.
 */
function placeOf(namespace: readonly string[], type: string, node = ''): MessagePlace {
  const isInTool = namespace.at(-1)?.startsWith('tools:') === true && type !== 'tool'
  return { namespace: isInTool ? namespace : namespace.slice(0, -1), node }
}
