/** By night: projects of real package managers are built by a server, and where they are. */

import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { buildRevision, platformHere } from '../../src/revision/index.ts'
import type { Manifest } from '../../src/revision/index.ts'
import { buildWith, freshRoot, installManagers, installWith,
  managers } from '../support/package-managers.ts'
import type { Manager } from '../support/package-managers.ts'
import { startRegistry } from '../support/package-registry.ts'
import type { PackageRegistry } from '../support/package-registry.ts'
import { writeTree } from '../unit/revision/trees.ts'
import type { Leaves } from '../unit/revision/trees.ts'

const engine = '@langchain/langgraph'
const agent = `import '${engine}'\nexport const graph = 1\n`

describe('package managers', () => {
  let registry: PackageRegistry

  beforeAll(async () => {
    await installManagers()
    const scripts = { preinstall: 'exit 1', install: 'exit 1', postinstall: 'exit 1' }
    registry = await startRegistry([
      { manifest: { name: engine, version: '1.0.0', scripts, dependencies: { leaf: '^1.0.0' } },
        files: { 'index.js': 'module.exports = "the engine"' } },
      { manifest: { name: 'leaf', version: '1.0.0', scripts }, files: { 'index.js': '' } },
      { manifest: { name: 'only-to-develop', version: '1.0.0', scripts } },
    ])
  })

  afterAll(() => registry?.close())

  it.each(managers)('$title: a project', async (manager) => {
    const { there, local, own } = await builtBoth(manager, {
      'package.json': JSON.stringify({ name: 'shop', private: true,
        scripts: { preinstall: 'exit 1', postinstall: 'exit 1' },
        dependencies: { [engine]: '1.0.0' }, devDependencies: { 'only-to-develop': '1.0.0' } }),
      'langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}}',
      'agent.ts': agent,
    })
    expect(namesIn(there)).toEqual([engine, 'leaf'])
    expect(there.archives).toEqual(local.archives)
    expect(own).toEqual(['agent.ts', 'langgraph.json', 'package.json', manager.lockFile].sort())
  })

  it.each(managers)('$title: a part of a workspace', async (manager) => {
    const isPnpm = manager.program === 'pnpm'
    const ofWorkspace = isPnpm || ['yarn 4', 'bun'].includes(manager.title) ? 'workspace:*' : '*'
    const { there, local } = await builtBoth(manager, {
      'package.json': JSON.stringify({ name: 'all', private: true,
        ...!isPnpm && { workspaces: ['apps/*', 'parts/*'] } }),
      ...isPnpm && { 'pnpm-workspace.yaml': 'packages:\n  - apps/*\n  - "parts/*" # all\n' },
      'apps/shop/package.json': JSON.stringify({ name: 'shop', version: '1.0.0',
        scripts: { postinstall: 'exit 1' },
        dependencies: { [engine]: '1.0.0', goods: ofWorkspace } }),
      'apps/shop/langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}}',
      'apps/shop/agent.ts': `import 'goods'\n${agent}`,
      'parts/goods/package.json': JSON.stringify({ name: 'goods', version: '1.0.0',
        main: 'goods.ts', dependencies: { leaf: '1.0.0' } }),
      'parts/goods/goods.ts': "import 'leaf'\n",
    }, 'apps/shop')
    expect(namesIn(there)).toEqual([engine, 'leaf'])
    expect(there.config).toBe('apps/shop/langgraph.json')
    expect(there.archives).toEqual(local.archives)
  })

  it.each(managers)('$title: a stale lock file is refused, and a fresh one built once',
    async (manager) => {
      const root = await freshRoot()
      const [project, builds] = [join(root, 'project'), join(root, 'builds')]
      const manifest = (needs: object) =>
        JSON.stringify({ name: 'shop', private: true,
          dependencies: { [engine]: '1.0.0', ...needs } })
      await writeTree(project, { 'package.json': manifest({}), 'agent.ts': agent,
        'langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}}' })
      await installWith(manager, project, registry.url)
      await rm(join(project, 'node_modules'), { recursive: true })
      await buildWith(manager, project, registry.url, builds)
      await writeTree(project, { 'agent.ts': `${agent}// Another one\n` })
      expect((await buildWith(manager, project, registry.url, builds)).lines[0])
        .toMatch(/^The packages are those of an earlier build/)
      await writeTree(project, { 'package.json': manifest({ 'only-to-develop': '1.0.0' }) })
      await expect(buildWith(manager, project, registry.url, builds)).rejects
        .toThrow(/could not install the packages/)
    })

  /** Builds it there, without what is installed here, and here. */
  async function builtBoth(manager: Manager, leaves: Leaves, part = '') {
    const project = await freshRoot()
    await writeTree(project, leaves)
    await installWith(manager, project, registry.url)
    const { manifest: local } = await buildRevision({ config: join(project, part),
      platform: platformHere(), keep: async () => {} })
    for (const folder of ['', 'apps/shop', 'parts/goods', 'apps', 'parts']) {
      await rm(join(project, folder, 'node_modules'), { recursive: true, force: true })
    }
    const own = readdirSync(project).sort()
    const { manifest: there } = await buildWith(manager, join(project, part), registry.url)
    expect(existsSync(join(project, 'node_modules'))).toBe(false)
    return { local, there, own }
  }
})

/** Names of the packages, each once. */
function namesIn({ archives }: Manifest): string[] {
  const paths = archives.filter(({ kind }) => kind === 'package').map(({ path }) => path)
  return [...new Set(paths.map((path) => path.split('node_modules/').at(-1)!))].sort()
}
