/** Runs a graph here and on the library's own saver, and compares what each of them holds. */

import { isDeepStrictEqual } from 'node:util'

import { AIMessage } from '@langchain/core/messages'
import { BinaryOperatorAggregate, Command, MemorySaver,
  messagesStateReducer } from '@langchain/langgraph'
import { expect } from 'vitest'

import { knownReducers } from '../../src/graph/engine/append-path.ts'
import type { MessagesReducer } from '../../src/graph/engine/append-path.ts'
import type { RunRequest, StoredTuple } from '../../src/graph/execution.ts'
import type { ServedGraph } from '../../src/graph/project/graph-export.ts'
import { ChannelUpdates } from '../../src/graph/state/channel-updates.ts'
import type { ChannelClass } from '../../src/graph/state/channel-updates.ts'
import { KnownChannels } from '../../src/graph/state/state-delta.ts'
import { compileChanging } from './changing-graph.ts'
import type { ChangingGraph } from './changing-graph.ts'
import { codec, GraphBench } from './graph-bench.ts'
import type { Ran, RunOptions } from './graph-bench.ts'

type Durability = RunRequest['durability']

/** The value with a text for each of its parts that JSON would lose. */
export function canonical(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (AIMessage.isInstance(value)) return JSON.parse(codec.text(value))
  if (Array.isArray(value)) return value.map(canonical)
  if (value instanceof Map) return { map: [...value].map(canonical) }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, canonical(each)]))
}

const isState = (channel: string) => !/^(__|branch:)/.test(channel)

function stateOf(values: Record<string, unknown>): unknown {
  return canonical(Object.fromEntries(Object.entries(values)
    .filter(([channel]) => isState(channel)).sort(([a], [b]) => a < b ? -1 : 1)))
}

/** A graph on the library's own saver. */
class Oracle {
  readonly #saver = new MemorySaver()
  readonly #graph: ServedGraph

  constructor(graph: object) {
    this.#graph = Object.create(graph, { checkpointer: { value: this.#saver } }) as ServedGraph
  }

  /** The last state, as the API would show it, and whether the graph then waits for an answer. */
  async run(input: unknown, durability: Durability): Promise<{ shown: unknown; waits: boolean }> {
    let [shown, waits]: [unknown, boolean] = [undefined, false]
    const options = { configurable: { thread_id: 't' }, durability, streamMode: 'values' }
    for await (const chunk of await this.#graph.stream(input as never, options as never)) {
      waits = '__interrupt__' in (chunk as object)
      if (!waits) shown = chunk
    }
    return { shown: JSON.parse(codec.text(shown)), waits }
  }

  /** The states of the newest checkpoints, the oldest of them first. */
  async states(limit: number): Promise<unknown[]> {
    const states: unknown[] = []
    const config = { configurable: { thread_id: 't' } }
    for await (const { checkpoint } of this.#saver.list(config, { limit: limit + 1 })) {
      states.unshift(stateOf(checkpoint.channel_values))
    }
    return states
  }
}

/** The states that a reader without any memory gets of each checkpoint, the oldest first. */
async function statesInLog(tuples: readonly StoredTuple[]): Promise<unknown[]> {
  return Promise.all(tuples.map(async ({ channels }) => {
    const known = await KnownChannels.of(channels, (value) => codec.decode(value))
    return stateOf(known.values())
  }))
}

/** Compares as `toEqual` does, which is slow on large values. */
function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

/** What a client has seen last. */
function shownBy({ events }: Ran, tuples: readonly StoredTuple[]): unknown {
  const { valuesOf, json } = events.findLast(({ name, json: text }) =>
    name === 'values' && !text.startsWith('{"__interrupt__"')
  )!
  if (valuesOf === '') return JSON.parse(json)
  const { channels } = tuples.find(({ id }) => id === valuesOf)!
  return Object.fromEntries(channels.filter(({ channel }) => isState(channel))
    .map(({ channel, content }) => [channel, 'list' in content
      ? content.list.map((value) => JSON.parse(value.json) as unknown)
      : JSON.parse(content.value.json)]
    ))
}

/** Fails if a step, an event or the memory differs from what the library's own saver holds. */
export async function expectAlike(plan: ChangingGraph): Promise<void> {
  const graph = compileChanging(plan)
  const oracle = new Oracle(graph)
  const bench = new GraphBench(graph)
  const updates = new ChannelUpdates(knownReducers(messagesStateReducer as MessagesReducer))
  if (plan.watched) bench.shortcuts = { updates, bareStream: undefined }
  const run = async (request: RunOptions) => {
    const unwatch = plan.watched
      ? updates.watch(BinaryOperatorAggregate as unknown as ChannelClass)
      : () => {}
    try {
      return await bench.run({ ...request, streamModes: ['values'] })
    } finally {
      unwatch()
    }
  }
  let seen = 0
  for (const [i, { forget, durability: text }] of plan.runs.entries()) {
    const durability = text as Durability
    const request = { durability, forget }
    let expected = await oracle.run({ turn: i + 1 }, durability)
    let ran = await run({ ...request, input: { turn: i + 1 } })
    while (expected.waits) {
      expect(ran.outcome).toMatchObject({ status: 'success', waiting: true })
      expected = await oracle.run(new Command({ resume: 'yes' }), durability)
      ran = await run({ ...request, command: { resume: 'yes' } })
    }
    expect(ran.outcome).toMatchObject({ status: 'success', waiting: false })
    const made = bench.log.checkpoints.length - seen
    seen += made
    // Includes the one before, which no run may change. The oracle has none beyond.
    const tuples =
      (await bench.log.list({ ns: '', checkpointId: null, before: null, limit: made + 1,
        filter: null })).reverse()
    const states = await statesInLog(tuples)
    expectSame(states, await oracle.states(made))
    expectSame(shownBy(ran, tuples), expected.shown)
    await expectRemembered(bench, states.at(-1))
  }
}

/** What the next run would find in memory, if anything. */
async function expectRemembered({ memories, log, threadId }: GraphBench,
  state: unknown): Promise<void> {
  const memory = memories.take(threadId, log.headId)
  const root = memory.newest.get('')
  if (!root) return
  await root.channels.settle((value) => codec.decode(value))
  expectSame(stateOf(root.channels.values()), state)
  memories.keep(threadId, memory)
}
