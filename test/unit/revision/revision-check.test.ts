/** Loading the graphs of a revision in a process like that of a deployment. */

import { join } from 'node:path'

import { expect, it, vi } from 'vitest'

import { checkGraphs } from '../../../src/revision/check/revision-check.ts'
import { virtualEnv } from '../../support/env.ts'
import type { VirtualEnv } from '../../support/env.ts'
import { freshFolder, writeTree } from './trees.ts'
import type { Leaves } from './trees.ts'

async function checked(files: Leaves, env: VirtualEnv = virtualEnv()) {
  const root = join(await freshFolder(), 'own')
  const graphs = Object.keys(files).map((file) => [file.replace(/\..*/, ''), `./${file}:graph`])
  await writeTree(root, { 'langgraph.json': JSON.stringify({ graphs: Object.fromEntries(graphs) }),
    ...files })
  const held = { root, configFile: join(root, 'langgraph.json') }
  return await checkGraphs({ held, manifest: { platform: null }, env, workers: 1, memoryMb: 512,
    variables: { TOKEN: 'set' } })
}

it('says which nodes a graph has, and why another cannot be loaded', async () => {
  const failing = (pattern: RegExp) => ({ nodes: [], failure: expect.stringMatching(pattern) })
  expect(await checked({
    'good.ts': `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
    import { existsSync } from 'node:fs'
    if (process.env.TOKEN !== 'set' || existsSync('/etc/alpine-release') === 7) throw 'no'
    export const graph = new StateGraph(MessagesAnnotation).addNode('one', () => ({}))
      .addEdge('__start__', 'one').compile()`,
    'bad.ts': 'throw new Error("not today")',
    'reader.ts': "import fs from 'node:fs'; fs.readFileSync('/etc/hostname')",
    'native.ts': "process.dlopen({ exports: {} }, './x.node')",
  })).toEqual([
    { graphId: 'good', nodes: ['one'], failure: null },
    { graphId: 'bad', ...failing(/bad\.ts:1:7.*not today/) },
    { graphId: 'reader', ...failing(/reader\.ts.*FileSystemRead of \/etc\/hostname is not perm/) },
    { graphId: 'native', ...failing(/native\.ts.*addon/) },
  ])
})

it('outlives code that ends its process', async () => {
  // Whether the process could say what it imports depends on how fast it is killed.
  await expect(checked({ 'agent.mjs': 'process.kill(process.pid, "SIGKILL")' }))
    .rejects.toThrow(/ended by itself with SIGKILL/)
})

it('ends code that does not return', async () => {
  const env = virtualEnv()
  const end = expect(checked({ 'agent.mjs': 'for (;;);' }, env)).rejects
    .toThrow(/did not load within 60 seconds/)
  await vi.waitUntil(() => env.timers() > 0)
  env.advance(60_000)
  await end
})
