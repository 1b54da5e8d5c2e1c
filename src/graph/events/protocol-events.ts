/** Turns the engine's stream into events of protocol v2, for followers of the whole thread. */

import { objectIn, objectOf, textAt } from '../../json/index.ts'
import type { ExecutionOutcome, JsonText, Step, StepEvent } from '../execution.ts'
import { ChildLifecycle } from './child-lifecycle.ts'
import { taskPayload } from './debug-payload.ts'
import type { StepSink } from '../state/step-sink.ts'
import type { Chunk, ChunkSink } from './event-mapping.ts'
import { ProtocolMessages } from './protocol-messages.ts'
import type { LateEvent } from './step-outbox.ts'
import { StreamTransformers } from './stream-transformers.ts'
import type { EventContent, StreamTransformer } from './stream-transformers.ts'
import { checkpointMark, isExecutionMethod, threadName } from './thread-event-name.ts'
import type { ExecutionMethod } from './thread-event-name.ts'
import type { ValuesReference } from './values-reference.ts'

/** The engine's modes that events of a thread are made of. */
export const protocolModes: readonly string[] = ['values', 'updates', 'messages', 'tools', 'custom',
  'tasks']

/** Options of the events of one run, which `notify` receives in order. */
export interface ProtocolEventsOptions {
  /** The JSON text that the API shows of a value. */
  readonly text: (value: unknown) => JsonText
  /** Steps reach the log only at the end: states are sent as text before. */
  readonly isExit: boolean
  readonly notify: (event: StepEvent | LateEvent) => void
  readonly nowMs: () => number
  /** The engine streams calls of tools at the namespace of their task, or of its graph. */
  readonly toolsAt: 'task' | 'graph'
}

/**
 * A checkpoint whose events are not sent yet.
 *
 * open     they are sent where its step came, unless its values come in the same turn
 * claimed  they are sent where its values came
 * sent     they were sent
 */
interface Mark {
  readonly id: string
  readonly event: StepEvent
  state: 'open' | 'claimed' | 'sent'
}

/**
 * Makes the events of one run. Only the marks of checkpoints are durable: with them, a client that
 * comes later gets every state.
 */
export class ProtocolEvents {
  readonly #options: ProtocolEventsOptions
  readonly #messages: ProtocolMessages
  readonly #children: ChildLifecycle
  /** Calls of tools that stay in the namespace of their task. */
  readonly #apart = new Set<string>()
  #marks: Mark[] = []
  #reference: ValuesReference | undefined
  /** Undefined if the graph has none. */
  #transformers: StreamTransformers | undefined

  constructor(options: ProtocolEventsOptions) {
    this.#options = options
    this.#messages = new ProtocolMessages((place, data) =>
      this.#send('messages', place.namespace, data, place.node)
    )
    this.#children = new ChildLifecycle((namespace, data) =>
      this.#send('lifecycle', namespace, data)
    )
  }

  /** Undefined if the state values are not exactly what the graph's checkpoints hold. */
  referTo(reference: ValuesReference | undefined): void {
    this.#reference = reference
  }

  /** The transformers that the graph was compiled with. */
  transformWith(factories: readonly (() => StreamTransformer)[]): void {
    if (factories.length === 0) return
    const emit = (event: EventContent) => this.#notify(event)
    this.#transformers = new StreamTransformers(factories, emit, this.#options.nowMs)
  }

  /** A sink for the engine's stream that feeds the events of the run as well. */
  chunksFor(ofRun: ChunkSink): ChunkSink {
    return {
      chunk: (chunk) => {
        this.chunk(chunk)
        ofRun.chunk(chunk)
      },
      engineEvent: (event) => ofRun.engineEvent(event),
    }
  }

  /** A sink that notes the checkpoints among the steps. */
  sinkOver(sink: StepSink): StepSink {
    return {
      step: (step) => {
        sink.step(step)
        this.step(step)
      },
      hold: (done) => sink.hold(done),
      acknowledged: () => sink.acknowledged(),
    }
  }

  /** A chunk of the engine's stream, with its namespace. */
  chunk({ namespace, mode, payload }: Chunk): void {
    this.#children.see(namespace)
    switch (mode) {
      case 'messages':
        return this.#messages.chunk(namespace, payload)
      case 'tools':
        return this.#tool(namespace, objectOf(payload))
      case 'updates':
        return this.#updates(namespace, payload)
      case 'values':
        return this.#values(namespace, payload)
      case 'tasks':
        this.#children.task(namespace, payload)
        this.#messages.task(namespace, payload)
        return this.#send('tasks', namespace, taskPayload(payload))
      case 'custom':
        return this.#send('custom', namespace, customData(payload))
    }
  }

  /** A step that goes into the log. */
  step({ $case, value }: Step): void {
    if ($case !== 'checkpoint') return
    const { ns, id, parentId, metadataJson } = value
    const { step = -1, source = 'loop' } = objectIn(metadataJson || '{}')
    // It holds the input, but the state before it.
    if (source === 'input') return
    const data = { id, ...parentId !== '' && { parent_id: parentId }, step, source }
    if (ns !== '') return this.#send('checkpoints', ns.split('|'), data)
    const event = { name: checkpointMark, json: JSON.stringify(data), valuesOf: id, durable: true }
    const mark: Mark = { id, event, state: 'open' }
    this.#marks.push(mark)
    this.#options.notify(() => mark.state === 'open' ? this.#sent(mark) : undefined)
  }

  /** The run has ended, unless it goes on elsewhere. */
  async end({ status, waiting, error }: ExecutionOutcome): Promise<void> {
    if (status === 'aborted' || status === 'drained') return
    this.#messages.end(error?.message)
    this.#children.end(error ? 'failed' : waiting ? 'interrupted' : 'completed')
    await this.#transformers?.end(error?.message)
  }

  #values(namespace: readonly string[], payload: unknown): void {
    if (isInterrupt(payload)) return
    this.#children.stepDone(namespace)
    const { isExit, notify } = this.#options
    const reference = this.#reference
    if (namespace.length > 0 || isExit) return this.#send('values', namespace, payload)
    // Followers get the states of the root from the log, whatever a transformer says.
    this.#transformers?.see({ method: 'values', namespace, node: '', data: payload })
    if (!reference) return
    const find = () => {
      const id = this.#marks.length > 0 ? reference.of(payload) : undefined
      return this.#marks.find((mark) => mark.id === id)
    }
    const claimed = find()
    if (claimed) claimed.state = 'claimed'
    notify(() => this.#sent(claimed ?? find()))
  }

  /** The event of a mark, once. */
  #sent(mark: Mark | undefined): StepEvent | undefined {
    if (!mark || mark.state === 'sent') return undefined
    mark.state = 'sent'
    this.#marks = this.#marks.filter((each) => each !== mark)
    return mark.event
  }

  #updates(namespace: readonly string[], payload: unknown): void {
    if (typeof payload !== 'object' || payload === null) return
    for (const [node, update] of Object.entries(payload)) {
      if (node === '__interrupt__' || node === '__metadata__') continue
      const values = typeof update === 'object' && update !== null ? update : { value: update }
      this.#send('updates', namespace, { node, values }, node)
    }
  }

  /**
   * At the graph's namespace, where every client looks. The tool `task` starts a subagent: clients
   * take that one's namespace from the task's.
   */
  #tool(namespace: readonly string[], payload: ToolPayload): void {
    const { event, toolCallId, name } = payload
    if (toolCallId === undefined) return
    if (event === 'on_tool_start' && name === 'task') this.#apart.add(toolCallId)
    if (this.#options.toolsAt === 'graph') {
      return this.#send('tools', namespace, toolData(payload))
    }
    const [graph, node] = [namespace.slice(0, -1), namespace.at(-1)?.split(':', 1)[0]]
    this.#send('tools', this.#apart.has(toolCallId) ? namespace : graph, toolData(payload), node)
  }

  #send(method: ExecutionMethod, namespace: readonly string[], data: unknown, node = ''): void {
    const event = { method, namespace, node, data }
    if (this.#transformers?.see(event) ?? true) this.#notify(event)
  }

  /** Methods that no client knows are left out. */
  #notify({ method, namespace, node, data }: EventContent): void {
    if (!isExecutionMethod(method)) return
    const name = threadName({ method, node, namespace })
    this.#options.notify({ name, json: this.#options.text(data), valuesOf: '', durable: false })
  }
}

interface ToolPayload {
  readonly event?: string
  readonly toolCallId?: string
  readonly name?: string
  readonly input?: unknown
  readonly data?: unknown
  readonly output?: unknown
  readonly error?: unknown
}

function toolData({ event, toolCallId, name, input, data, output, error }: ToolPayload): object {
  const call = { tool_call_id: toolCallId }
  switch (event) {
    case 'on_tool_start':
      return { event: 'tool-started', ...call, tool_name: name ?? 'unknown', input }
    case 'on_tool_event':
      return { event: 'tool-output-delta', ...call,
        delta: typeof data === 'string' ? data : JSON.stringify(data ?? '') }
    case 'on_tool_end':
      return { event: 'tool-finished', ...call, output }
    default:
      return { event: 'tool-error', ...call, message: errorText(error) }
  }
}

function errorText(error: unknown): string {
  return textAt(error, 'message') ?? String(error ?? 'unknown error')
}

function customData(payload: unknown): unknown {
  const isNamed = typeof payload === 'object' && payload !== null && !Array.isArray(payload)
    && 'name' in payload
  return isNamed ? payload : { payload }
}

function isInterrupt(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && '__interrupt__' in payload
}
