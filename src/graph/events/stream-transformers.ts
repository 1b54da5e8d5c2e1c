/**
 * The stream transformers that a graph was compiled with. They see the events of a run before its
 * followers do, and what they push into channels with a name becomes custom events.
 *
 * The engine's own event stream of version 3 would carry them as well, but it changes which
 * messages are stored. So they run here, over the events that are made anyway.
 */

import { memberOf } from '../../json/index.ts'
import type { ServedGraph } from '../project/graph-export.ts'

/** An event as transformers know it. */
export interface TransformerEvent {
  readonly type: 'event'
  readonly seq: number
  readonly method: string
  readonly params: {
    readonly namespace: readonly string[]
    readonly timestamp: number
    readonly node?: string
    readonly data: unknown
  }
}

/** A transformer as the library describes it; see `StreamTransformer` of LangGraph.js. */
export interface StreamTransformer {
  init(): unknown
  onRegister?(emitter: { push(namespace: readonly string[], event: TransformerEvent): void }): void
  /** False to keep the event from followers. */
  process(event: TransformerEvent): boolean
  finalize?(): void | PromiseLike<void>
  fail?(reason: unknown): void
}

/** The transformers that a graph was compiled with. Engines before 1.3 know none. */
export function transformersOf(
  { streamTransformers }: Pick<ServedGraph, 'streamTransformers'>,
): readonly (() => StreamTransformer)[] {
  return Array.isArray(streamTransformers) ? streamTransformers : []
}

/** Content of an event, before it has a number and a time. */
export interface EventContent {
  readonly method: string
  readonly namespace: readonly string[]
  readonly node: string
  readonly data: unknown
}

/** A channel of the library, known by its brand: each copy of the library has its own class. */
interface Channel {
  readonly channelName?: string
  _wire(pushed: (item: unknown) => void): void
  _close(): void
  _fail(reason: unknown): void
}

const brand = Symbol.for('langgraph.stream_channel')

/** The transformers of one run. */
export class StreamTransformers {
  readonly #emit: (event: EventContent) => void
  readonly #nowMs: () => number
  #transformers: StreamTransformer[] = []
  readonly #channels: Channel[] = []
  /** Values that are known only when the run ends, each with the name under which it is sent. */
  readonly #finals: { readonly name: string; readonly value: PromiseLike<unknown> }[] = []
  /** Namespace of the event that is seen now: values pushed meanwhile belong to it. */
  #namespace: readonly string[] = []
  #seq = 0

  /** `emit` sends an event that transformers make, past them. */
  constructor(factories: readonly (() => StreamTransformer)[], emit: (event: EventContent) => void,
    nowMs: () => number) {
    this.#emit = emit
    this.#nowMs = nowMs
    this.#guarded(() => {
      for (const factory of factories) this.#add(factory())
      return true
    })
  }

  /** False if followers must not get the event. */
  see(content: EventContent): boolean {
    return this.#guarded(() => this.#process(content))
  }

  /** Call once when the run has ended. Values that are not known a moment later are not sent. */
  async end(failure: string | undefined): Promise<void> {
    const ended: unknown[] = []
    this.#guarded(() => {
      for (const transformer of this.#transformers) {
        if (failure === undefined) ended.push(transformer.finalize?.())
        else transformer.fail?.(new Error(failure))
      }
      return true
    })
    for (const channel of this.#channels) {
      if (failure === undefined) channel._close()
      else channel._fail(new Error(failure))
    }
    const sent = this.#finals.map(async ({ name, value }) =>
      this.#emit({ method: 'custom', namespace: [], node: '',
        data: { name, payload: await value } })
    )
    const moment = new Promise<void>((over) => setImmediate(over))
    await Promise.race([Promise.allSettled([...ended, ...sent]), moment])
  }

  #add(transformer: StreamTransformer): void {
    const projection = transformer.init()
    for (const [name, value] of Object.entries(projection ?? {})) this.#wire(name, value)
    this.#transformers.push(transformer)
    transformer.onRegister?.({
      push: (namespace, { method, params: { node = '', data } }) => {
        const content = { method, namespace, node, data }
        if (this.#process(content)) this.#emit(content)
      },
    })
  }

  #wire(name: string, value: unknown): void {
    if (isChannel(value)) {
      this.#channels.push(value)
      const { channelName } = value
      if (typeof channelName !== 'string') return
      value._wire((payload) =>
        this.#emit({ method: 'custom', namespace: this.#namespace, node: '',
          data: { name: channelName, payload } })
      )
    } else if (isPromise(value)) {
      this.#finals.push({ name, value })
    }
  }

  #process({ method, namespace, node, data }: EventContent): boolean {
    const params = { namespace, timestamp: this.#nowMs(), ...node !== '' && { node }, data }
    const event: TransformerEvent = { type: 'event', seq: this.#seq++, method, params }
    const outer = this.#namespace
    this.#namespace = namespace
    let isShown = true
    for (const transformer of this.#transformers) {
      if (!transformer.process(event)) isShown = false
    }
    this.#namespace = outer
    return isShown
  }

  /** A transformer that throws ends all of them, not the run. */
  #guarded(act: () => boolean): boolean {
    try {
      return act()
    } catch (error) {
      for (const transformer of this.#transformers) quietly(() => transformer.fail?.(error))
      this.#transformers = []
      return true
    }
  }
}

function quietly(act: () => void): void {
  try {
    act()
  } catch {
    // It has failed already.
  }
}

function isChannel(value: unknown): value is Channel {
  return memberOf(value, brand) === true
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
    && typeof value.then === 'function'
}
