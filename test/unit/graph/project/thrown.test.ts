/** What a node throws is shown as itself: as the error of the run, and as that of its task. */

import * as langgraph from '@langchain/langgraph'
import { Annotation, START, StateGraph, interrupt } from '@langchain/langgraph'
import { expect, it } from 'vitest'

import { keepThrown, messageOf } from '../../../../src/graph/project/thrown.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import { hostProject, TestHost } from './host-project.ts'

// As a worker does when it starts.
keepThrown(langgraph)

const State = Annotation.Root({ word: Annotation<unknown>() })
const graphOf = (work: () => unknown) =>
  new StateGraph(State)
    .addNode('node', () => ({ word: work() })).addEdge(START, 'node').compile()

class Odd {
  readonly x = 1
}

it.each<readonly [unknown, string, string]>([
  [{ code: 7, why: 'no' }, 'Error', '{"code":7,"why":"no"}'],
  [{ message: 'hello', name: 'Odd' }, 'Error', '{"message":"hello","name":"Odd"}'],
  [Object.freeze({ a: 1 }), 'Error', '{"a":1}'],
  [Object.assign(Object.create(null) as object, { a: 1 }), 'Error', '{"a":1}'],
  [new Odd(), 'Error', '{"x":1}'],
  ['just text', 'Error', 'just text'],
  ['', 'Error', ''],
  [null, 'Error', 'null'],
  [undefined, 'Error', 'undefined'],
  [5, 'Error', '5'],
  [Object(5), 'Error', '5'],
  [false, 'Error', 'false'],
  [[1, 2], 'Error', '[1,2]'],
  [Symbol('s'), 'Error', 'Symbol(s)'],
  [new TypeError('typed'), 'TypeError', 'typed'],
  [Object.freeze(new RangeError('frozen')), 'RangeError', 'frozen'],
  [Object.assign(new Error('nameless'), { name: undefined }), 'Error', 'nameless'],
  [Object.assign(new Error('nameless'), { name: '' }), 'Error', 'nameless'],
])('%j is thrown', async (thrown, name, message) => {
  const fails = graphOf(() => {
    throw thrown
  })
  const within = new StateGraph(State).addNode('outer', fails).addEdge(START, 'outer').compile()
  for (const graph of [fails, within]) {
    const bench = new GraphBench(graph)
    const { outcome } = await bench.run({ input: { word: 'in' } })
    expect(outcome).toMatchObject({ status: 'error', waiting: true,
      error: { error: name, message } })
    const [answer] = await bench.ask({ kind: 'state' })
    const { tasks: [task] } = JSON.parse(answer!.json) as { tasks: { error: string }[] }
    expect(JSON.parse(task!.error)).toEqual({ name, message })
  }
})

it('What is thrown keeps its members for those who decide on a retry.', async () => {
  const seen: unknown[] = []
  let tries = 0
  const graph = new StateGraph(State).addNode('node', () => {
    tries += 1
    if (tries === 1) throw { status: 503, message: 'later' }
    return { word: 'done' }
  }, { retryPolicy: { initialInterval: 1, jitter: false, retryOn: (error: unknown) => {
    seen.push((error as { status: unknown }).status)
    return true
  } } }).addEdge(START, 'node').compile()
  const { outcome } = await new GraphBench(graph).run({ input: { word: 'in' } })
  expect([outcome.status, seen]).toEqual(['success', [503]])
})

it('A question of the engine is no error.', async () => {
  const { outcome } = await new GraphBench(graphOf(() => interrupt('sure?')))
    .run({ input: { word: 'in' } })
  expect(outcome).toMatchObject({ status: 'success', waiting: true })
})

it('A worker tells what its graphs and its factories throw.', async () => {
  const test = await TestHost.start(1, await hostProject(`
    export const text = one(() => { throw 'just text' })
    export const nothing = one(() => { throw null })
    export const plain = () => { throw { code: 7 } }`))
  const [text, nothing, plain] = await Promise.all(
    ['text', 'nothing', 'plain'].map((graphId) => test.run(graphId, {}).end),
  )
  expect(text).toMatchObject({ error: { error: 'Error', message: 'just text' } })
  expect(nothing).toMatchObject({ error: { error: 'Error', message: 'null' } })
  expect(plain).toMatchObject({
    error: { error: 'Error', message: 'The factory of graph "plain" failed: {"code":7}' },
  })
})

it.each([
  [{ code: 'ERR_ACCESS_DENIED', permission: 'FileSystemRead', resource: '/etc/shadow' }, 'no',
    'FileSystemRead of /etc/shadow is not permitted: the code of a deployment reads its own ' +
    'files, writes none, and starts no other process.'],
  [{ code: 'ERR_ACCESS_DENIED', permission: 'ChildProcess', resource: '' }, 'no',
    /^ChildProcess is not permitted: /],
  [{ code: 'ERR_ACCESS_DENIED' }, 'of its own', 'of its own'],
  [{ code: 'ERR_DLOPEN_FAILED' },
    "The module '/x/node_modules/a/node_modules/@b/sqlite/build/Release/c.node'\nwas compiled " +
    'against a different Node.js version using\nNODE_MODULE_VERSION 115. This version of ' +
    'Node.js requires\nNODE_MODULE_VERSION 137. Please try re-compiling or re-installing\nthe ' +
    'module (for instance, using `npm rebuild` or `npm install`).',
    /^@b\/sqlite was built for another .* \(NODE_MODULE_VERSION 115\), .*\(137\): install it/],
  [{ code: 'ERR_DLOPEN_FAILED' }, 'libx.so: cannot open', 'libx.so: cannot open'],
  [{ code: 'ERR_MODULE_NOT_FOUND' },
    "Cannot find module '/x/node_modules/@a/b/dist/c.js' imported from /x/apps/one/src/agent.ts",
    '@a/b has no dist/c.js, which one/src/agent.ts imports: build that package if it is one of ' +
    'the workspace, otherwise install it again.'],
  [{ code: 'MODULE_NOT_FOUND' }, "Cannot find module '/x/node_modules/b/dist/c.js'",
    /^b has no dist\/c\.js: build that package/],
  [{ code: 'ERR_MODULE_NOT_FOUND' }, "Cannot find package 'b' imported from /x/agent.ts",
    "Cannot find package 'b' imported from /x/agent.ts"],
  [{ code: 'ERR_MODULE_NOT_FOUND' },
    'Cannot find module \'/x/node_modules/b/c\' imported from /x/a.ts\nDid you mean "b/c.js"?',
    /Did you mean/],
] as const)('A refusal of Node %o is explained.', (members, message, explained) => {
  expect(messageOf(Object.assign(new Error(message), members))).toEqual(
    typeof explained === 'string' ? explained : expect.stringMatching(explained),
  )
})
