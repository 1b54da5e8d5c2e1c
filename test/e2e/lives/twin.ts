/** The thread in this process: the same graph with the official MemorySaver. */

import * as messages from '@langchain/core/messages'
import { Command, MemorySaver, Send } from '@langchain/langgraph'
import type { StateSnapshot } from '@langchain/langgraph'
import type { ThreadState } from '@langchain/langgraph-sdk'

import type { ServedGraph } from '../../../src/graph/graph-export.ts'
import { bindSaver } from '../../../src/graph/bound-graph.ts'
import { withoutAnswer } from '../../../src/graph/pending-writes.ts'
import { StateReader, doneTasks } from '../../../src/graph/state-reader.ts'
import { ValueCodec } from '../../../src/graph/value-codec.ts'
import type { Edit, Wish } from './life.ts'
import { payloadOf, recursionLimit } from './place.ts'
import type { At, Part, Payload, Place, Ran } from './place.ts'

type Fields = Record<string, unknown>
type Get = MemorySaver['getTuple']
type Put = MemorySaver['put']

/**
 * Intended: with durability exit the engine saves a checkpoint again if it made no step. It would
 * then be its own parent, and the history a circle.
 */
class Saver extends MemorySaver {
  /** An answer from before, which names no question, answers nothing more. */
  heard = false

  override async getTuple(...[config]: Parameters<Get>): ReturnType<Get> {
    const tuple = await super.getTuple(config)
    if (!tuple || !this.heard) return tuple
    return { ...tuple, pendingWrites: withoutAnswer(tuple.pendingWrites ?? []) }
  }

  override async put(...[config, checkpoint, metadata]: Parameters<Put>): ReturnType<Put> {
    const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable!
    if (checkpoint.id !== checkpoint_id) return super.put(config, checkpoint, metadata)
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id } }
  }
}

export class Twin implements Place {
  readonly #compiled: ServedGraph
  readonly #saver: Saver
  readonly #graph: ServedGraph
  readonly #reader: ServedGraph
  readonly id: string
  #failed: boolean

  constructor(graph: ServedGraph, id: string, { saver = new Saver(), failed = false } = {}) {
    this.#compiled = graph
    this.#saver = saver
    this.#graph = bindSaver(graph, saver as never)
    // Intended: a finished task has no interrupts, an answered one that asks again has.
    this.#reader = bindSaver(graph, new StateReader(saver as never))
    this.id = id
    this.#failed = failed
  }

  async run(wish: Wish, configurable: Fields = {}): Promise<Ran> {
    const { input, command, checkpoint, ...rest } = await payloadOf(this, wish)
    const parts: Part[] = []
    this.#failed = false
    try {
      const stream = await this.#graph.stream(
        (command ? await this.#command(command, checkpoint) : input) as never,
        { ...rest, ...this.#config({ ...checkpoint, ...configurable }), recursionLimit,
          subgraphs: true, streamMode: ['values', 'updates'] } as never)
      for await (const part of stream) {
        const [space, mode, data] = part as unknown as [string[], string, unknown]
        const { __metadata__: _, ...told } = data as Fields
        parts.push({ event: [mode, ...space].join('|'), data: shown(told) })
      }
    } catch (caught) {
      const { name, message } = caught as Error
      const error = { error: name, message }
      parts.push({ event: 'error', data: error })
      this.#failed = true
      return { parts, result: { __error__: error } }
    } finally {
      this.#saver.heard = false
    }
    const waiting = await this.#waiting().catch(() => [])
    return { parts, result: waiting.length === 0 ? {}
      : { __interrupt__: waiting.flatMap(({ interrupts }) => shown(interrupts)) } }
  }

  async update({ values, asNode }: Pick<Edit, 'values' | 'asNode'>, at: At | undefined):
    Promise<void> {
    await this.#graph.updateState(this.#config(at), values as never, asNode)
    this.#failed = false
  }

  copy(id: string): Twin {
    const saver = new Saver()
    saver.storage = { [id]: structuredClone(this.#saver.storage[this.id] ?? {}) }
    saver.writes = Object.fromEntries(Object.entries(this.#saver.writes).map(([key, writes]) =>
      [JSON.stringify([id, ...(JSON.parse(key) as string[]).slice(1)]), structuredClone(writes)]))
    return new Twin(this.#compiled, id, { saver, failed: this.#failed })
  }

  async thread(): Promise<unknown> {
    if (this.#failed) return { status: 'error' }
    const { next } = await this.#reader.getState(this.#config())
    const waiting = await this.#waiting()
    return { status: next.length > 0 ? 'interrupted' : 'idle',
      interrupts: Object.fromEntries(waiting.map(({ id, interrupts }) => [id, shown(interrupts)])) }
  }

  async state(at?: At, subgraphs = false): Promise<ThreadState> {
    return asServed(await this.#reader.getState(this.#config(at), { subgraphs }))
  }

  async history(checkpoint_ns = ''): Promise<ThreadState[]> {
    const states: ThreadState[] = []
    const history = this.#reader.getStateHistory(this.#config({ checkpoint_ns }))
    for await (const snapshot of history) states.push(asServed(snapshot))
    return states
  }

  isRefusal(): boolean { return true }

  #config(at: At = {}) {
    return { configurable: { thread_id: this.id, ...at } }
  }

  async #command({ resume, update, goto = [] }: NonNullable<Payload['command']>, at?: At):
    Promise<Command> {
    const tuple = await this.#saver.getTuple(this.#config(at))
    const done = at?.checkpoint_id == null ? doneTasks(tuple) : new Set<string>()
    // Includes tasks that only a `goto` led to, which the state does not show.
    const asked = (tuple?.pendingWrites ?? []).flatMap(([task, channel, value]) =>
      (channel === '__interrupt__' && !done.has(task) ? [value as { id?: string }[]].flat() : []))
    // Intended: an answer like `false` is delivered if one interrupt waits, and to that one only.
    const isLost = !resume && resume != null && asked.length === 1
    this.#saver.heard = !resume && resume != null
    return new Command({
      ...resume !== undefined && { resume: isLost ? { [asked[0]!.id!]: resume } : resume },
      ...update !== undefined && { update: update as Fields },
      goto: goto.map((target) =>
        (typeof target === 'string' ? target : new Send(target.node, target.input))),
    })
  }

  /** The unfinished tasks of the head. */
  async #waiting(): Promise<StateSnapshot['tasks']> {
    const { tasks, config } = await this.#reader.getState(this.#config())
    const done = doneTasks(await this.#saver.getTuple(config))
    return tasks.filter(({ id }) => !done.has(id))
  }
}

const codec = new ValueCodec(messages, new MemorySaver().serde)

/** The value as the API shows it. */
function shown(value: unknown): unknown {
  return JSON.parse(codec.text(value) || 'null')
}

function asServed({ config, parentConfig, tasks, ...snapshot }: StateSnapshot): ThreadState {
  return {
    ...shown(snapshot) as Fields,
    checkpoint: config.configurable, parent_checkpoint: parentConfig?.configurable,
    tasks: tasks.map(({ state, error, ...task }) => ({
      ...shown(task) as Fields,
      error: error == null ? null : codec.text(error),
      checkpoint: state && 'configurable' in state ? state.configurable : null,
      state: state && 'values' in state ? asServed(state) : null,
    })),
  } as unknown as ThreadState
}
