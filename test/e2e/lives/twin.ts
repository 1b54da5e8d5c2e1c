/** The thread in this process: the same graph with the official MemorySaver. */

import * as messages from '@langchain/core/messages'
import { Command, MemorySaver, Send } from '@langchain/langgraph'
import type { StateSnapshot } from '@langchain/langgraph'
import type { ThreadState } from '@langchain/langgraph-sdk'

import { bindSaver } from '../../../src/graph/engine/bound-graph.ts'
import { addsResults, readHistory, readState } from '../../../src/graph/engine/graph-state.ts'
import type { ServedGraph } from '../../../src/graph/project/graph-export.ts'
import { withoutAnswer } from '../../../src/graph/state/pending-writes.ts'
import { doneTasks, withoutResults } from '../../../src/graph/state/state-reader.ts'
import { ValueCodec } from '../../../src/graph/state/value-codec.ts'
import type { Edit, RunPlan } from './life.ts'
import { payloadOf, recursionLimit } from './place.ts'
import type { At, Part, Payload, Place, Ran } from './place.ts'

type Fields = Record<string, unknown>
type Get = MemorySaver['getTuple']
type Put = MemorySaver['put']
type PutWrites = MemorySaver['putWrites']

const nullTask = '00000000-0000-0000-0000-000000000000'
const answering = new Set(['__resume__', '__interrupt__', '__error__'])

function kept<Writes>(writes: Writes): Writes {
  return writes
}

function placeOf({ configurable = {} }: Parameters<Get>[0]): string {
  return JSON.stringify([configurable.checkpoint_ns ?? '', configurable.checkpoint_id])
}

/**
 * Intended: with durability exit the engine saves a checkpoint again if it made no step. It would
 * then be its own parent, and the history a circle.
 */
class Saver extends MemorySaver {
  /** An answer from before, which names no question, answers nothing more. */
  received = false
  /** Of a step that failed as a whole, an update replaces what its tasks wrote. */
  dropsResults = false
  /** Checkpoints on which a task has had the answer that names no question. */
  readonly #answered = new Set<string>()

  override async getTuple(...[config]: Parameters<Get>): ReturnType<Get> {
    const tuple = await super.getTuple(config)
    if (!tuple) return tuple
    const hasEnded = this.received || this.#answered.has(placeOf(tuple.config))
    const writes = (hasEnded ? withoutAnswer : kept)(tuple.pendingWrites ?? [])
    return { ...tuple, pendingWrites: (this.dropsResults ? withoutResults : kept)(writes) }
  }

  /** Intended: an answer is used once, and a task that fails does not keep it. */
  override async putWrites(
    ...[config, writes, taskId]: Parameters<PutWrites>
  ): ReturnType<PutWrites> {
    const failed = writes.some(([channel]) => channel === '__error__')
    for (const [channel] of writes) {
      if (!answering.has(String(channel))) continue
      if (taskId === nullTask) this.#answered.delete(placeOf(config))
      else this.#answered.add(placeOf(config))
    }
    return super.putWrites(config,
      failed ? writes.filter(([channel]) => channel !== '__resume__') : writes, taskId)
  }

  /** All that is known of one thread, for another one. */
  copyTo(saver: Saver, from: string, to: string): void {
    saver.storage = { [to]: structuredClone(this.storage[from] ?? {}) }
    saver.writes = Object.fromEntries(
      Object.entries(this.writes).map((
        [key, writes],
      ) => [JSON.stringify([to, ...(JSON.parse(key) as string[]).slice(1)]),
        structuredClone(writes)]
      ),
    )
    for (const place of this.#answered) saver.#answered.add(place)
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
  readonly id: string
  #failed: boolean

  constructor(graph: ServedGraph, id: string, { saver = new Saver(), failed = false } = {}) {
    this.#compiled = graph
    this.#saver = saver
    this.#graph = bindSaver(graph, saver as never)
    this.id = id
    this.#failed = failed
  }

  async run(runPlan: RunPlan, configurable: Fields = {}): Promise<Ran> {
    const { input, command, checkpoint, ...rest } = await payloadOf(this, runPlan)
    const parts: Part[] = []
    this.#failed = false
    try {
      const stream = await this.#graph.stream(
        (command ? await this.#command(command, checkpoint) : input) as never,
        { ...rest, ...this.#config({ ...checkpoint, ...configurable }), recursionLimit,
          subgraphs: true, streamMode: ['values', 'updates'] } as never,
      )
      for await (const part of stream) {
        const [space, mode, data] = part as unknown as [string[], string, unknown]
        const { __metadata__: _, ...seen } = data as Fields
        parts.push({ event: [mode, ...space].join('|'), data: shown(seen) })
      }
    } catch (caught) {
      const { name, message } = caught as Error
      const error = { error: name, message }
      parts.push({ event: 'error', data: error })
      this.#failed = true
      return { parts, result: { __error__: error } }
    } finally {
      this.#saver.received = false
    }
    const waiting = await this.#waiting().catch(() => [])
    return { parts, result: waiting.length === 0
      ? {}
      : { __interrupt__: waiting.flatMap(({ interrupts }) => shown(interrupts)) } }
  }

  async update({ values, asNode }: Pick<Edit, 'values' | 'asNode'>,
    at: At | undefined): Promise<void> {
    const config = this.#config(at)
    this.#saver.dropsResults = at?.checkpoint_id === undefined
      && !await addsResults(this.#compiled, this.#saver as never, config)
    try {
      await this.#graph.updateState(config, values as never, asNode)
    } finally {
      this.#saver.dropsResults = false
    }
    this.#failed = false
  }

  copy(id: string): Twin {
    const saver = new Saver()
    this.#saver.copyTo(saver, this.id, id)
    return new Twin(this.#compiled, id, { saver, failed: this.#failed })
  }

  async thread(): Promise<unknown> {
    if (this.#failed) return { status: 'error' }
    const { next } = await this.#read()
    const waiting = await this.#waiting()
    return { status: next.length > 0 ? 'interrupted' : 'idle',
      interrupts: Object.fromEntries(waiting.map(({ id, interrupts }) => [id, shown(interrupts)])) }
  }

  async state(at?: At, subgraphs = false): Promise<ThreadState> {
    return asServed(await this.#read(at, subgraphs))
  }

  /** Intended: a step that failed as a whole leaves a state. */
  #read(at?: At, subgraphs = false): Promise<StateSnapshot> {
    return readState(this.#compiled, this.#saver as never, { config: this.#config(at), subgraphs },
      (snapshot) => snapshot)
  }

  async history(checkpoint_ns = ''): Promise<ThreadState[]> {
    return readHistory(this.#compiled, this.#saver as never, [this.#config({ checkpoint_ns })],
      async (snapshots) => snapshots.map(asServed))
  }

  isRefusal(): boolean {
    return true
  }

  #config(at: At = {}) {
    return { configurable: { thread_id: this.id, ...at } }
  }

  async #command({ resume, update, goto = [] }: NonNullable<Payload['command']>,
    at?: At): Promise<Command> {
    const tuple = await this.#saver.getTuple(this.#config(at))
    const done = at?.checkpoint_id == null ? doneTasks(tuple) : new Set<string>()
    // Includes tasks that only a `goto` led to, which the state does not show.
    const asked = (tuple?.pendingWrites ?? []).flatMap((
      [task, channel, value],
    ) => (channel === '__interrupt__' && !done.has(task)
      ? [value as { id?: string }[]].flat()
      : [])
    )
    // Intended: an answer like `false` is delivered if one interrupt waits, and to that one only.
    const isLost = !resume && resume != null && asked.length === 1
    this.#saver.received = !resume && resume != null
    return new Command({
      ...resume !== undefined && { resume: isLost ? { [asked[0]!.id!]: resume } : resume },
      ...update !== undefined && { update: update as Fields },
      goto: goto.map((
        target,
      ) => (typeof target === 'string' ? target : new Send(target.node, target.input))),
    })
  }

  /** The unfinished tasks of the head. */
  async #waiting(): Promise<StateSnapshot['tasks']> {
    const { tasks, config } = await this.#read()
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
    checkpoint: config.configurable,
    parent_checkpoint: parentConfig?.configurable,
    tasks: tasks.map(({ state, error, ...task }) => ({
      ...shown(task) as Fields,
      error: error == null ? null : codec.text(error),
      checkpoint: state && 'configurable' in state ? state.configurable : null,
      state: state && 'values' in state ? asServed(state) : null,
    })),
  } as unknown as ThreadState
}
