/** The shortcuts through the engine change nothing that a run does or shows. */

import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import { getContextVariable, setContextVariable } from '@langchain/core/context'
import { Runnable, RunnableLambda } from '@langchain/core/runnables'
import { BinaryOperatorAggregate, getConfig, getCurrentTaskInput, getWriter, interrupt,
  messagesStateReducer } from '@langchain/langgraph'
import { Pregel } from '@langchain/langgraph/pregel'
import { RunTree } from 'langsmith'
import { getCurrentRunTree, traceable } from 'langsmith/traceable'
import { afterEach, describe, expect, it } from 'vitest'

import { knownReducers } from '../../../../src/graph/engine/append-path.ts'
import type { MessagesReducer } from '../../../../src/graph/engine/append-path.ts'
import { BareStream } from '../../../../src/graph/engine/bare-stream.ts'
import type { PregelMethods } from '../../../../src/graph/engine/bare-stream.ts'
import { isKnown, nearestKnown, unknownIn } from '../../../../src/graph/engine/known-sources.ts'
import { shortcutsOn } from '../../../../src/graph/engine/shortcuts.ts'
import { ChannelUpdates } from '../../../../src/graph/state/channel-updates.ts'
import type { ChannelClass } from '../../../../src/graph/state/channel-updates.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import type { Ran, RunOptions } from '../../../support/graph-bench.ts'
import { echo, fanOut, line, nested, nestedAsk, said, tokens,
  twoQuestions } from '../../../support/small-graphs.ts'

const pregel = Pregel.prototype as unknown as PregelMethods
let undo = () => {}
afterEach(() => {
  undo()
  undo = () => {}
})

const modes = ['values', 'updates', 'messages-tuple', 'custom', 'tasks', 'checkpoints', 'tools']

/** Replaces ids by the order of their appearance, and times: these differ from run to run. */
function steady(value: unknown): string[] {
  const seen = new Map<string, string>()
  const text = new TextDecoder()
  return JSON.stringify(value,
    (_, member: unknown) => member instanceof Uint8Array ? text.decode(member) : member)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'some time')
    .replace(/"atMs":\d+/g, '"atMs":0')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}/g, (id) => {
      if (!seen.has(id)) seen.set(id, `id-${seen.size}`)
      return seen.get(id)!
    })
    .split(/(?<=,)/)
}

/** Plays runs one after another: their events and outcomes, and what is then in the log. */
async function played(graph: unknown, wishes: readonly RunOptions[], shortcuts: boolean) {
  const bench = new GraphBench(graph)
  if (shortcuts) {
    const updates = new ChannelUpdates(knownReducers(messagesStateReducer as MessagesReducer))
    bench.shortcuts = { updates, bareStream: new BareStream(pregel) }
    undo = updates.watch(BinaryOperatorAggregate as unknown as ChannelClass)
  }
  const runs: Pick<Ran, 'events' | 'outcome'>[] = []
  for (const options of wishes) {
    const { events, outcome } = await bench.run({ streamModes: modes, ...options })
    runs.push({ events, outcome })
  }
  undo()
  undo = () => {}
  return { runs, checkpoints: bench.log.checkpoints, writes: bench.log.writes }
}

/** A graph that notes what user code sees of its surroundings, at several depths. */
const looking = line(['look'], async (_, config) => {
  const see = () => ({
    tags: getConfig().tags,
    step: getConfig().metadata?.langgraph_step,
    configurable: getConfig().configurable?.colour,
    writer: typeof getWriter(),
    input: getCurrentTaskInput(),
    same: getConfig().configurable?.thread_id,
    tree: getCurrentRunTree(true)?.tracingEnabled,
    isTree: getCurrentRunTree(true) instanceof RunTree,
  })
  const inner = RunnableLambda.from(() => see())
  const plain = traceable(() => 'traced', { name: 'traced' })
  setContextVariable('mood', 'glad')
  const deep = RunnableLambda.from(() => [see(), getContextVariable('mood')])
  return [see(), await inner.invoke({}), await inner.invoke({}, { ...config, tags: ['own'] }),
    await plain(), await deep.invoke({}), see()]
})

describe('the shortcuts', () => {
  it.each<[string, unknown, RunOptions[]]>([
    ['two turns of a chat', echo, [{ input: said('a') }, { input: said('b') }]],
    ['tokens of a model', tokens, [{ input: said('a') }]],
    ['tokens, told by every call', tokens, [{ input: said('a'), streamModes: ['events'] }]],
    ['a subgraph', nested, [{ input: { log: [] }, streamSubgraphs: true }]],
    ['packets', fanOut, [{ input: { log: [] } }]],
    ['an interrupt and its answer', line(['ask'], () => interrupt('?')), [{ input: { log: [] } }, {
      command: { resume: 'yes' },
    }]],
    ['an interrupt in a subgraph', nestedAsk, [{ input: { log: [] } }, { command: { resume: 1 } }]],
    ['two questions', twoQuestions, [{ input: { log: [] } }, { command: { resume: 1 } }]],
    ['a model by its name', echo, [{ input: said('a'), config: { configurable: { model: 'm' } } }]],
    ['breakpoints', line(['a', 'b']), [{ input: { log: [] }, interruptBefore: '*' }, { input: null,
      interruptAfter: ['a'] }, { input: null }]],
    ['a run that stores only its end', echo, [{ input: said('a'), durability: 'exit' }]],
    ['a run that waits for the log', echo, [{ input: said('a'), durability: 'sync' }]],
    ['a failure', line(['a'], () => {
      throw new Error('no')
    }), [{ input: { log: [] } }]],
    ['what user code sees', looking, [{ input: { log: ['in'] },
      config: { tags: ['t'], configurable: { colour: 'red' }, metadata: { m: 1 } } }]],
  ])('change nothing: %s', async (_, graph, wishes) => {
    const without = await played(graph, wishes, false)
    const withThem = await played(graph, wishes, true)
    expect(steady(withThem)).toEqual(steady(without))
  })

  it.each<[string, unknown, RunOptions]>([
    ['a limit of steps', line(['a', 'b']).withConfig({ recursionLimit: 1 }), {}],
    ['a limit of steps of the run', line(['a', 'b']), { config: { recursion_limit: 1 } }],
  ])('lose no event before a failure: %s', async (_, graph, options) => {
    const wishes = [{ input: { log: [] }, ...options }]
    const { runs: [without] } = await played(graph, wishes, false)
    const { runs: [withThem] } = await played(graph, wishes, true)
    // Without the shortcuts, the library drops events that were not read yet at the failure.
    expect(withThem!.events.length).toBeGreaterThanOrEqual(without!.events.length)
    expect(withThem!.events.at(-1)).toMatchObject({ name: 'values' })
    expect(steady(withThem!.outcome)).toEqual(steady(without!.outcome))
  })

  it('change nothing for a callback', async () => {
    const received = async (shortcuts: boolean) => {
      const calls: string[] = []
      class Handler extends BaseCallbackHandler {
        name = 'handler'
        override awaitHandlers = true
        override handleChainStart(
          ...[, , , , tags, metadata, , name]: Parameters<
            NonNullable<BaseCallbackHandler['handleChainStart']>
          >
        ) {
          calls.push(`start ${name} ${tags?.join()} ${String(metadata?.langgraph_node)}`)
        }
        override handleChainEnd() {
          calls.push('end')
        }
      }
      const inner = RunnableLambda.from(() => 1).withConfig({ runName: 'inner' })
      const handler = new Handler()
      const graph = line(['a'], () => inner.invoke({})).withConfig({ callbacks: [handler] })
      await played(graph, [{ input: { log: [] } }], shortcuts)
      return calls
    }
    const calls = await received(false)
    expect(calls.join()).toContain('inner')
    expect(await received(true)).toEqual(calls)
  })

  it('are only taken if the code of the library is known', () => {
    expect(isKnown(messagesStateReducer)).toBe(true)
    const { stream, _streamIterator } = pregel
    expect(isKnown(stream, _streamIterator, Runnable.prototype.stream)).toBe(true)
    expect(isKnown((left: unknown) => left)).toBe(false)
    expect(isKnown()).toBe(false)
  })

  it('are taken as the setting says', () => {
    expect([...shortcutsOn()]).toContain('bare-stream')
    expect([...shortcutsOn('off')]).toEqual([])
    expect([...shortcutsOn('bare-stream, nothing')]).toEqual(['append-path'])
  })

  it('name the nearest release that is known', () => {
    expect(nearestKnown('1.9.0')).toBe('1.7.3')
    expect(nearestKnown('1.6.0')).toBe('1.5.3')
    expect(nearestKnown('1.10.0-alpha.1')).toBe('1.7.3')
    expect(nearestKnown('0.3.0')).toBe('1.4.18')
    // The functions of a copy may have been changed.
    expect(nearestKnown('1.7.0')).toBe('1.7.0')
  })

  it('say of a release which of its functions are not known', () => {
    expect(unknownIn('1.7.2')).toEqual([])
    expect(unknownIn('1.6.0')).toEqual(['stream and _streamIterator'])
    expect(unknownIn('1.10.0')).toEqual(['messagesStateReducer', 'stream and _streamIterator'])
  })
})
