/** Components in a revision: files beside the own ones, and how a member finds them again. */

import { existsSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { expect, it } from 'vitest'

import { readProject } from '../../../src/graph/project/project.ts'
import { archiveOf } from '../../../src/revision/archive/archive.ts'
import { componentsOf, readComponent,
  withComponents } from '../../../src/revision/component-tree.ts'
import { writeProject } from '../graph/project/project-files.ts'
import { freshFolder, sourcesIn } from './trees.ts'

const files = { 'agent.ts': 'export const graph = 1', 'ui.css': '.card { color: red }',
  'langgraph.json': { graphs: { agent: './agent.ts:graph' }, ui: { agent: './ui.tsx' } },
  'ui.tsx': `import './ui.css'; export default { card: () => 'words' }` }

async function treeOf(more: object = {}) {
  const root = await writeProject({ ...files, ...more })
  return await withComponents(await readProject(root), root, await sourcesIn(root))
}

it('are packed beside the own files, the same ones again, and read from there', async () => {
  const one = await treeOf({ '.heddle-ui/components.json': '{"agent":["stale"]}' })
  const other = await treeOf()
  expect((await archiveOf(other.files)).hash).toBe((await archiveOf(one.files)).hash)
  const place = await freshFolder()
  for (const each of one.files) {
    if (each.kind === 'link') continue
    await mkdir(dirname(join(place, each.path)), { recursive: true })
    await copyFile(each.file, join(place, each.path))
  }
  const names = (await componentsOf(place)).get('agent')!
  expect(names).toEqual([expect.stringMatching(/^ui-[0-9a-f]{32}\.(css|js)$/),
    expect.stringMatching(/^ui-[0-9a-f]{32}\.(css|js)$/)])
  const contents = await Promise.all(names.map((name) => readComponent(place, name)))
  expect(contents.map(String).join()).toContain('.card{color:red}')
  const made = one.files.flatMap((each) => each.kind === 'file' ? [each] : [])
    .find(({ path }) => path.startsWith('.heddle-ui/'))!
  await one.remove()
  await other.remove()
  expect(existsSync(made.file)).toBe(false)
})

it('are none without ui, and none in a revision of an earlier version', async () => {
  const { files: packed } = await treeOf({ 'langgraph.json': { graphs: files['langgraph.json']
    .graphs } })
  expect(packed.some(({ path }) => path.startsWith('.heddle-ui/'))).toBe(false)
  expect(await componentsOf(await freshFolder())).toEqual(new Map())
})

it.each([
  ['that cannot be compiled', 'export default = 1', /ui\.agent: ui\.tsx:1:\d+/],
  ['whose sources lie elsewhere', `import '/etc/passwd'; export default {}`, /passwd lies outside/],
])('refuse the revision: those %s', async (_, code, message) => {
  await expect(treeOf({ 'ui.tsx': code, 'tsconfig.json': {} })).rejects
    .toMatchObject({ code: 'no_compile', message: expect.stringMatching(message) })
})
