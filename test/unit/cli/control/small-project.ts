/** A project that is built in no time: its engine is a file. */

import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

import { writeTree } from '../../revision/trees.ts'
import type { Leaves } from '../../revision/trees.ts'

const engine = 'node_modules/@langchain/langgraph'

/** Makes one in a folder named `Shop App`, removed after the test. Resolves with its path. */
export async function smallProject(more: Leaves = {}): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'heddle-project-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const folder = join(root, 'Shop App')
  await writeTree(folder, {
    'langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}}',
    'package.json': '{"name": "shop", "dependencies": {"@langchain/langgraph": "1.0.0"}}',
    'package-lock.json': '{}',
    'agent.ts': "import '@langchain/langgraph'\nexport const graph = 1\n",
    [`${engine}/package.json`]: '{"name": "@langchain/langgraph", "version": "1.0.0"}',
    [`${engine}/index.js`]: 'module.exports = 1',
    ...more,
  })
  return folder
}
