/** Loading the graphs of a revision in a process of their own. */

import { join } from 'node:path'

import { expect, it } from 'vitest'

import { checkGraphs } from '../../../src/revision/check/revision-check.ts'
import { freshFolder, writeTree } from './trees.ts'

/** Timers that are started by hand. */
function heldTimers() {
  const due = Promise.withResolvers<() => void>()
  return { due: due.promise, after: (_: number, fn: () => void) => {
    due.resolve(fn)
    return () => {}
  } }
}

async function projectWith(code: string): Promise<string> {
  const folder = await freshFolder()
  await writeTree(folder, { 'langgraph.json': '{"graphs": {"agent": "./agent.mjs:graph"}}',
    'agent.mjs': code })
  return join(folder, 'langgraph.json')
}

it('says which nodes a graph has, and why another cannot be loaded', async () => {
  const folder = await freshFolder()
  await writeTree(folder, {
    'langgraph.json': '{"graphs": {"good": "./good.ts:graph", "bad": "./bad.ts:graph"}}',
    'good.ts': `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
    export const graph = new StateGraph(MessagesAnnotation).addNode('one', () => ({}))
      .addEdge('__start__', 'one').compile()`,
    'bad.ts': 'throw new Error("not today")',
  })
  expect(await checkGraphs(join(folder, 'langgraph.json'), heldTimers())).toEqual([
    { graphId: 'good', nodes: ['one'], failure: null },
    { graphId: 'bad', nodes: [], failure: expect.stringMatching(/bad\.ts:1:7.*not today/) },
  ])
})

it('outlives code that ends its process', async () => {
  const config = await projectWith('process.kill(process.pid, "SIGKILL")')
  await expect(checkGraphs(config, heldTimers())).rejects.toThrow(/ended with SIGKILL/)
})

it('ends code that does not return', async () => {
  const timers = heldTimers()
  const checked = checkGraphs(await projectWith('for (;;);'), timers)
  ;(await timers.due)()
  await expect(checked).rejects.toThrow(/not loaded after 60 seconds/)
})
