/** Maps the engine's stream to events of the API. */

import { isList, memberOf, objectOf } from '../../json/index.ts'
import type { JsonText, StepEvent, EmittedEvent, RunRequest } from '../execution.ts'
import { checkpointPayload, debugPayload, isEnvelope, taskPayload } from './debug-payload.ts'
import { leanTask } from './lean-task.ts'
import { MessageEvents } from './message-events.ts'
import type { LateEvent } from './step-outbox.ts'
import { SubgraphLifecycle } from './subgraph-lifecycle.ts'
import type { RunEnd } from './subgraph-lifecycle.ts'
import { isTask } from './task-payload.ts'
import type { TaskPayload } from './task-payload.ts'
import type { ValuesReference } from './values-reference.ts'

/** One item of the engine's stream. The namespace is empty for the graph itself. */
export interface Chunk {
  readonly namespace: readonly string[]
  readonly mode: string
  readonly payload: unknown
}

/** Takes what the engine streams, in order. */
export interface ChunkSink {
  chunk(chunk: Chunk): void
  /** An event of the `events` mode. */
  engineEvent(event: unknown): void
}

/** Options of one run's events. Mapped events go to `notify`, in order. */
export interface EventMapperOptions {
  /** Stream modes of the API. */
  readonly modes: readonly string[]
  readonly subgraphs: boolean
  /** False if steps reach the log only at the end, so that no earlier event is durable. */
  readonly durable: boolean
  /** The JSON text that the API shows of a value. */
  readonly text: (value: unknown) => JsonText
  /** Undefined if the state values are not exactly what the graph's checkpoints hold. */
  readonly reference: ValuesReference | undefined
  /** Durable events that an earlier attempt emitted after the checkpoint that is resumed. */
  readonly emitted: readonly EmittedEvent[]
  /**
   * True if the run begins at a named checkpoint, where the engine repeats tasks that were done.
   */
  readonly redoes: boolean
  /** The error of a task that failed, of which the engine's event does not speak. */
  readonly errorOf?: (taskId: string) => unknown
  readonly notify: (event: StepEvent | LateEvent) => void
}

const interruptKey = '__interrupt__'
const metadataKey = '__metadata__'

/**
 * The engine's modes for those of the API. `updates` is always among them, to see that a run
 * stopped.
 */
export function engineModes(modes: readonly string[]): string[] {
  const needed = new Set(['updates'])
  for (const mode of modes) {
    if (mode === 'lifecycle' || mode === 'tasks-lean') needed.add('tasks')
    else if (mode === 'messages-tuple') needed.add('messages')
    else if (mode === 'messages') needed.add('messages').add('values')
    else if (mode !== 'events') needed.add(mode)
  }
  return [...needed]
}

/** True if the engine has to report on subgraphs as well. */
export function seesSubgraphs(
  { streamModes, streamSubgraphs }: Pick<RunRequest, 'streamModes' | 'streamSubgraphs'>,
): boolean {
  return streamSubgraphs || streamModes.includes('lifecycle')
}

/** Modes whose events come from subgraphs also if these are not asked for. */
const reachesRoot: ReadonlySet<string> = new Set(['messages', 'tools', 'custom'])

/** Maps the stream of one run. Events that an earlier attempt emitted are left out. */
export class EventMapper implements ChunkSink {
  readonly #options: EventMapperOptions
  readonly #modes: ReadonlySet<string>
  readonly #messages: MessageEvents | undefined
  readonly #lifecycle: SubgraphLifecycle | undefined
  readonly #emitted: EmittedEvent[]
  /** Names of the `values` events seen so far: one for each namespace. */
  readonly #begun = new Set<string>()
  /** True if the graph stopped before its end, at an interrupt or a breakpoint. */
  stopped = false

  constructor(options: EventMapperOptions) {
    this.#options = options
    this.#modes = new Set(options.modes)
    this.#emitted = [...options.emitted]
    if (this.#modes.has('lifecycle')) this.#lifecycle = new SubgraphLifecycle(this.#notifyNow)
    if (this.#modes.has('messages')) this.#messages = new MessageEvents(this.#notifyNow)
  }

  chunk({ namespace, mode, payload }: Chunk): void {
    if (mode === 'updates') return this.#updates(namespace, payload)
    const task = mode === 'tasks' && isTask(payload) ? this.#withError(payload) : undefined
    if (task) this.#lifecycle?.task(namespace, task)
    if (this.#isUnasked(namespace, mode)) return
    switch (mode) {
      case 'values':
        return this.#values(namespace, payload)
      case 'messages':
        if (this.#modes.has('messages-tuple')) this.#notify('messages', namespace, payload)
        return this.#messages?.chunk(payload)
      case 'checkpoints':
        if (isEnvelope(payload)) return
        return this.#wanted(mode, namespace, checkpointPayload(payload))
      case 'debug':
        return this.#wanted(mode, namespace, debugPayload(payload))
      case 'tasks':
        if (task) this.#wanted('tasks-lean', namespace, leanTask(task))
        return this.#wanted(mode, namespace, taskPayload(payload))
      default:
        return this.#wanted(mode, namespace, payload)
    }
  }

  /** The engine gives a task that threw an empty result. */
  #withError(task: TaskPayload): TaskPayload {
    if (task.result === undefined || (task.interrupts ?? []).length > 0) return task
    const error = this.#options.errorOf?.(task.id)
    return error === undefined ? task : { ...task, error }
  }

  /** To be called when the engine's stream has ended, with how the run did. */
  end(how: RunEnd): void {
    this.#lifecycle?.close(how)
  }

  /** True for an event of a subgraph that the caller did not ask for: only `lifecycle` needs it. */
  #isUnasked(namespace: readonly string[], mode: string): boolean {
    return namespace.length > 0 && !this.#options.subgraphs && !reachesRoot.has(mode)
  }

  /** Maps an event of the `events` mode. */
  engineEvent(event: unknown): void {
    this.#notify('events', [], event)
  }

  #updates(namespace: readonly string[], payload: unknown): void {
    const interrupts = interruptsOf(payload)
    // A subgraph reports its breakpoints itself, as an empty list.
    if (interrupts && (namespace.length === 0 || interrupts.length === 0)) this.stopped = true
    if (!this.#modes.has('updates') || this.#isUnasked(namespace, 'updates')) return
    const { [metadataKey]: metadata, ...update } = objectOf(payload)
    const json = this.#options.text(metadata === undefined ? payload : update)
    const name = this.#name('updates', namespace)
    const cached = memberOf(metadata, 'cached') === true
    // From a named checkpoint and in subgraphs, repeated tasks are not marked as cached.
    const again = interrupts || cached || this.#options.redoes || namespace.length > 0
    if (again && this.#wasEmitted({ name, json, valuesOf: '' })) return
    this.#options.notify({ name, json, valuesOf: '', durable: this.#options.durable })
  }

  #values(namespace: readonly string[], payload: unknown): void {
    const isRoot = namespace.length === 0
    if (this.#modes.has('values')) this.#state(namespace, payload)
    // Behind the state that has them, as the reference server does it.
    if (isRoot && !interruptsOf(payload)) this.#messages?.values(payload)
  }

  #state(namespace: readonly string[], payload: unknown): void {
    const isRoot = namespace.length === 0
    const interrupts = interruptsOf(payload)
    const { text, durable, notify } = this.#options
    // At a stop, the state has the writes of finished tasks, which no checkpoint holds.
    const isStep = isRoot && !interrupts && !this.stopped
    const reference = isStep ? this.#options.reference : undefined
    const name = this.#name('values', namespace)
    const event = (): StepEvent => {
      const valuesOf = reference?.of(payload) ?? ''
      return { name, json: valuesOf === '' ? text(payload) : '', valuesOf, durable }
    }
    // A resumed graph begins with the values that it stopped at.
    const again = interrupts || !this.#begun.has(name)
    this.#begun.add(name)
    if (again && this.#emitted.length > 0 && this.#wasEmitted(event())) return
    const mayBeKnownLater = reference !== undefined && reference.of(payload) === undefined
    notify(mayBeKnownLater ? event : event())
  }

  #wanted(mode: string, namespace: readonly string[], payload: unknown): void {
    if (this.#modes.has(mode)) this.#notify(mode, namespace, payload)
  }

  #notify(mode: string, namespace: readonly string[], payload: unknown): void {
    this.#notifyNow(this.#name(mode, namespace), payload)
  }

  readonly #notifyNow = (name: string, payload: unknown): void => {
    const json = this.#options.text(payload)
    this.#options.notify({ name, json, valuesOf: '', durable: false })
  }

  #name(mode: string, namespace: readonly string[]): string {
    return this.#options.subgraphs && namespace.length > 0 ? `${mode}|${namespace.join('|')}` : mode
  }

  /** True if an earlier attempt emitted the event. Each of its events matches once. */
  #wasEmitted({ name, json, valuesOf }: EmittedEvent): boolean {
    const index = this.#emitted.findIndex((emitted) =>
      emitted.name === name && emitted.json === json && emitted.valuesOf === valuesOf
    )
    if (index >= 0) this.#emitted.splice(index, 1)
    return index >= 0
  }
}

/** The interrupts in a state or an update; undefined if it has no list of them. */
export function interruptsOf(payload: unknown): readonly unknown[] | undefined {
  const interrupts = memberOf(payload, interruptKey)
  return isList(interrupts) ? interrupts : undefined
}
