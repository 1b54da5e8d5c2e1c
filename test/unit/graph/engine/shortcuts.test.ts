/** The shortcuts through the engine change nothing that a run does or shows. */

import { CallbackManager } from '@langchain/core/callbacks/manager'
import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import { getContextVariable, setContextVariable } from '@langchain/core/context'
import { Runnable, RunnableLambda } from '@langchain/core/runnables'
import { AsyncLocalStorageProviderSingleton as storage } from '@langchain/core/singletons'
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain'
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
import { isKnown, unknownIn } from '../../../../src/graph/engine/known-sources.ts'
import { makeTreesLazy, tracingFunctions } from '../../../../src/graph/engine/lazy-run-trees.ts'
import { shortcutsOn } from '../../../../src/graph/engine/shortcuts.ts'
import { ChannelUpdates } from '../../../../src/graph/state/channel-updates.ts'
import type { ChannelClass } from '../../../../src/graph/state/channel-updates.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import type { Ran, RunWish } from '../../../support/graph-bench.ts'
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
async function played(graph: unknown, wishes: readonly RunWish[], shortcuts: boolean) {
  const bench = new GraphBench(graph)
  if (shortcuts) {
    const updates = new ChannelUpdates(knownReducers(messagesStateReducer as MessagesReducer))
    bench.shortcuts = { updates, bareStream: new BareStream(pregel) }
    const unwatch = updates.watch(BinaryOperatorAggregate as unknown as ChannelClass)
    const lengthen = makeTreesLazy({ storage })
    undo = () => {
      unwatch()
      lengthen()
    }
  }
  const runs: Pick<Ran, 'events' | 'outcome'>[] = []
  for (const wish of wishes) {
    const { events, outcome } = await bench.run({ streamModes: modes, ...wish })
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
  it.each<[string, unknown, RunWish[]]>([
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

  it.each<[string, unknown, RunWish]>([
    ['a limit of steps', line(['a', 'b']).withConfig({ recursionLimit: 1 }), {}],
    ['a limit of steps of the run', line(['a', 'b']), { config: { recursion_limit: 1 } }],
  ])('lose no event before a failure: %s', async (_, graph, wish) => {
    const wishes = [{ input: { log: [] }, ...wish }]
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

  it('leave the run trees of a tracer alone', async () => {
    undo = makeTreesLazy({ storage })
    const runs: { id: string; name: string; parent_run_id?: string }[] = []
    const tracer = new LangChainTracer({ client: {
      createRun: async (run: never) => void runs.push(run),
      updateRun: async () => {},
    } as never })
    const inner = RunnableLambda.from(() => getCurrentRunTree(true)?.name)
      .withConfig({ runName: 'inner' })
    const graph = line(['a'], () => inner.invoke({})).withConfig({ callbacks: [tracer] })
    await graph.invoke({ log: [] } as never)
    const node = runs.find(({ name }) => name === 'a')
    const child = runs.find(({ name }) => name === 'inner')
    expect(node).toBeDefined()
    expect(child?.parent_run_id).toBe(node?.id)
  })

  it('give user code that looks at its run tree a real one with its own id', async () => {
    undo = makeTreesLazy({ storage })
    const trees: RunTree[] = []
    const inner = RunnableLambda.from(() => {
      trees.push(getCurrentRunTree(true)!)
    })
    await inner.invoke({})
    await inner.invoke({})
    const [first, second] = trees as [RunTree, RunTree]
    expect(first.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(first.id).not.toBe(second.id)
    expect(first.trace_id).toBe(first.id)
    expect(first.dotted_order).toContain(first.id)
    expect(first.createChild({ name: 'child' }).parent_run?.id).toBe(first.id)
    expect(getCurrentRunTree(true)).toBeUndefined()
  })

  it('give user code a real run tree also after it was copied', async () => {
    undo = makeTreesLazy({ storage })
    const seen = await RunnableLambda.from(() => {
      setContextVariable('mood', 'glad')
      const tree = getCurrentRunTree(true)!
      return [tree.id, tree.tracingEnabled, getContextVariable('mood'), getConfig() !== undefined]
    }).invoke({})
    expect(seen).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), false, 'glad', true])
  })

  it('leave the runs that a node traces itself in the same traces', async () => {
    const traced = async (shortcuts: boolean) => {
      if (shortcuts) undo = makeTreesLazy({ storage })
      const posted: { name: string; trace_id: string; parent_run_id?: string }[] = []
      const client = { createRun: async (run: never) => void posted.push(run),
        updateRun: async () => {} } as never
      const own = traceable(() => 1, { name: 'own', tracingEnabled: true, client })
      await line(['a', 'b'], () => own()).invoke({ log: [] } as never)
      undo()
      return posted.map(({ name, trace_id: id },
        i) => [name, posted.findIndex(({ trace_id: other }) => other === id) === i]
      )
    }
    expect(await traced(true)).toEqual(await traced(false))
  })

  it('are only taken if the code of the library is known', () => {
    const callbackManager = CallbackManager
    expect(isKnown(...tracingFunctions({ storage, callbackManager }))).toBe(true)
    expect(isKnown(messagesStateReducer)).toBe(true)
    const { stream, _streamIterator } = pregel
    expect(isKnown(stream, _streamIterator, Runnable.prototype.stream)).toBe(true)
    expect(isKnown((left: unknown) => left)).toBe(false)
    expect(isKnown()).toBe(false)
  })

  it('give the library its method back when they are undone', async () => {
    const { runWithConfig } = storage
    makeTreesLazy({ storage })()
    expect(storage.runWithConfig).toBe(runWithConfig)
  })

  it('are taken as the setting says', () => {
    expect([...shortcutsOn()]).toContain('bare-stream')
    expect([...shortcutsOn('off')]).toEqual([])
    const some = shortcutsOn('bare-stream, append-path')
    expect(some.has('bare-stream') || some.has('append-path')).toBe(false)
    expect(some.has('lazy-run-trees')).toBe(true)
  })

  it('say of a release which of its functions are not known', () => {
    expect(unknownIn('@langchain/langgraph', '1.7.2')).toEqual([])
    expect(unknownIn('@langchain/langgraph', '1.6.0')).toEqual(['stream and _streamIterator'])
    expect(unknownIn('@langchain/langgraph', '1.10.0')).toEqual(['messagesStateReducer',
      'stream and _streamIterator'])
    expect(unknownIn('@langchain/core', '1.5.0')).toEqual(['runWithConfig and _configureSync'])
  })
})
