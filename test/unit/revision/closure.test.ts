/** What is packed of a project: its packages in each layout, its own files, and its refusals. */

import { lstat, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { buildRevision } from '../../../src/revision/build.ts'
import { ownFiles } from '../../../src/revision/closure/own-files.ts'
import { platformHere, platformOf } from '../../../src/revision/closure/platform.ts'
import { RevisionCache } from '../../../src/revision/cache/revision-cache.ts'
import { ownArchive } from '../../../src/revision/manifest.ts'
import type { Manifest } from '../../../src/revision/manifest.ts'
import { packSources } from '../../../src/revision/remote/sources.ts'
import { unpack } from '../../../src/revision/cache/unpack.ts'
import { Chunks, freshFolder, readTree, writeTree } from './trees.ts'
import type { Leaf, Leaves } from './trees.ts'

const linux = platformOf('linux-x64-glibc')!

/** A package in a tree, with what it needs and more files. */
function pack(path: string, needs: object = {}, more: Leaves = {}): Record<string, Leaf> {
  const name = path.split('node_modules/').at(-1)!
  return { [`${path}/package.json`]: JSON.stringify({ name, version: '1.0.0', ...needs }),
    [`${path}/index.js`]: `module.exports = '${name}'`,
    ...Object.fromEntries(Object.entries(more).map(([file, leaf]) => [`${path}/${file}`, leaf])) }
}

const engine = '@langchain/langgraph'
const agent = `import '${engine}'\nexport const graph = 1\n`
const project: Leaves = {
  'langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}}',
  'package.json': JSON.stringify({ name: 'shop', dependencies: { [engine]: '1.0.0' } }),
  'package-lock.json': '{}',
  'agent.ts': agent,
}
const installed = pack(`node_modules/${engine}`)
const small: Leaves = { ...project, ...installed }

interface Built {
  readonly manifest: Manifest
  readonly chunks: Chunks
  readonly packages: readonly string[]
  readonly own: readonly string[]
}

async function builtFrom(leaves: Leaves, at = '', platform = linux): Promise<Built> {
  const folder = await freshFolder()
  await writeTree(folder, leaves)
  const chunks = new Chunks()
  const { manifest } = await buildRevision({ config: join(folder, at), platform,
    keep: async (chunk) => chunks.put(chunk) })
  const place = join(await mkdtemp(join(tmpdir(), 'heddle-own-')), 'tree')
  onTestFinished(() => rm(join(place, '..'), { recursive: true }))
  await unpack([ownArchive(manifest)], place, chunks.read)
  return { manifest, chunks, own: Object.keys(await readTree(place)),
    packages: manifest.archives.filter(({ kind }) => kind === 'package').map(({ path }) => path) }
}

const ownOf = async (leaves: Leaves) => (await builtFrom({ ...small, ...leaves })).own

const withNeeds = (dependencies: object, more: object = {}) => ({
  'package.json': JSON.stringify({ dependencies: { [engine]: '1', ...dependencies }, ...more }),
})

const libraryWithEngine = (name: string) => ({
  ...pack(`node_modules/${name}`, { dependencies: { [engine]: '0' } }),
  ...pack(`node_modules/${name}/node_modules/${engine}`, { version: '0.1.0' }),
})

describe('the packages of a project', () => {
  it('are those that it needs, with what these need, and no others', async () => {
    const { packages } = await builtFrom({ ...small,
      ...withNeeds({ one: '1' }, { devDependencies: { dev: '1' },
        optionalDependencies: { absent: '1' } }),
      ...pack('node_modules/one', { dependencies: { two: '1' }, peerDependencies: { peer: '1' } }),
      ...pack('node_modules/two', { dependencies: { one: '1' } }), ...pack('node_modules/peer'),
      ...pack('node_modules/dev'), ...pack('node_modules/stray') })
    expect(packages).toEqual([`node_modules/${engine}`, 'node_modules/one', 'node_modules/peer',
      'node_modules/two'])
  })

  it('are found as npm and yarn nest them: the nearest wins', async () => {
    const { packages } = await builtFrom({ ...small, ...withNeeds({ one: '1', two: '2' }),
      ...pack('node_modules/one', { dependencies: { two: '1' } }), ...pack('node_modules/two'),
      ...pack('node_modules/one/node_modules/two') })
    expect(packages).toEqual([`node_modules/${engine}`, 'node_modules/one',
      'node_modules/one/node_modules/two', 'node_modules/two'])
  })

  it('are also those that only own code imports, also while it runs', async () => {
    const { packages } = await builtFrom({ ...small, 'agent.ts': `${agent}import './b'
      export const load = () => import('lazy'), other = () => import('absent')
      import type { Type } from 'typed'`, 'b.ts': `import { x } from '@scope/direct/deep'
      import 'node:fs'; import 'path'; console.log(x)`,
      ...pack('node_modules/@scope/direct', {}, { 'deep/package.json': '{}', 'deep/index.js': '' }),
      ...pack('node_modules/lazy'), ...pack('node_modules/typed') })
    expect(packages).toEqual(
      [`node_modules/${engine}`, 'node_modules/@scope/direct', 'node_modules/lazy'].sort(),
    )
  })

  it('are also those that the settings of TypeScript extend', async () => {
    const { packages } = await builtFrom({ ...small,
      'tsconfig.json': '{ // comment\n"extends": ["@tsconfig/node24/tsconfig.json", "./x"] }',
      'apps/tsconfig.build.json': '{"extends": "base"}', ...pack('node_modules/@tsconfig/node24'),
      ...pack('node_modules/base') })
    expect(packages).toEqual([`node_modules/${engine}`, 'node_modules/@tsconfig/node24',
      'node_modules/base'])
  })

  it('are found through the links of pnpm, which are kept', async () => {
    const store = (name: string) => `node_modules/.pnpm/${name.replace('/', '+')}@1/node_modules`
    const { manifest, chunks, packages } = await builtFrom({ ...project, ...withNeeds({ one: '1' }),
      'pnpm-lock.yaml': 'lock', ...pack(`${store(engine)}/${engine}`), [`node_modules/${engine}`]: {
        link: `../.pnpm/@langchain+langgraph@1/node_modules/${engine}`,
      }, 'node_modules/one': { link: '.pnpm/one@1/node_modules/one' },
      ...pack(`${store('one')}/one`, { dependencies: { two: '1' } }),
      [`${store('one')}/two`]: { link: '../../two@1/node_modules/two' },
      ...pack(`${store('two')}/two`, { dependencies: {} }) })
    expect(packages).toEqual(
      [`${store(engine)}/${engine}`, `${store('one')}/one`, `${store('two')}/two`].sort(),
    )
    const place = join(await freshFolder(), 'tree')
    await unpack(manifest.archives.filter(({ kind }) => kind === 'links'), place, chunks.read)
    expect(await readTree(place)).toEqual({
      [`node_modules/${engine}`]: {
        link: `../.pnpm/@langchain+langgraph@1/node_modules/${engine}`,
      },
      'node_modules/one': { link: '.pnpm/one@1/node_modules/one' },
      [`${store('one')}/two`]: { link: '../../two@1/node_modules/two' },
    })
  })

  it('have the folders named node_modules that they bring among their own files', async () => {
    const inner = 'dist/node_modules/.pnpm/queue@9/node_modules/queue/index.js'
    const { manifest, chunks, packages } = await builtFrom({ ...small, ...withNeeds({ one: '1' }),
      ...pack('node_modules/one', { bundleDependencies: ['bundled', '../../x'] }, {
        [inner]: 'own',
        'node_modules/.bin/tool': 'tool',
      }), ...pack('node_modules/one/node_modules/bundled'),
      ...pack('node_modules/one/node_modules/stray') })
    expect(packages).toEqual([`node_modules/${engine}`, 'node_modules/one',
      'node_modules/one/node_modules/bundled'])
    const directory = await freshFolder()
    const cache = await RevisionCache.open({ directory, bytesMax: 1e9, env: { nowMs: () => 0 } })
    const { root } = await cache.hold(manifest, chunks.read)
    const files = Object.keys(await readTree(join(root, '../node_modules/one')))
    expect(files).toEqual([inner, 'index.js', 'node_modules/bundled/index.js',
      'node_modules/bundled/package.json', 'package.json'])
  })

  it('are found whatever form strangers give their package.json', async () => {
    const { packages } = await builtFrom({ ...small, ...withNeeds({ one: '1', two: '1' }),
      ...pack('node_modules/one', { os: 'linux', cpu: 'any', libc: 'glibc', bin: 'x', files: 'x',
        exports: false, workspaces: { packages: 'a' }, engines: 7, version: 1,
        dependencies: ['three'], optionalDependencies: null, peerDependencies: { peer: 1 } }),
      ...pack('node_modules/two', { os: { linux: true }, cpu: [64], name: 7, gypfile: 'no',
        workspaces: 'a', dependencies: { four: '1', '../x': '1', '/etc': '1', '': '1' } }),
      'node_modules/four/package.json': '\uFEFF{"dependencies": {"five": "1"}}',
      'node_modules/five/package.json': '[]' })
    expect(packages).toEqual([`node_modules/${engine}`, ...['five', 'four', 'one', 'two']
      .map((name) => `node_modules/${name}`)])
  })

  it('of a workspace are those of the project and of the packages that it uses', async () => {
    const { manifest, packages, own } = await builtFrom({ ...installed,
      'package.json': JSON.stringify({ workspaces: ['apps/*', 'libs/*'] }),
      'package-lock.json': '{}', 'apps/shop/langgraph.json': project['langgraph.json']!,
      'apps/shop/agent.ts': `${agent}import '@shop/lib'`,
      'apps/shop/package.json': JSON.stringify({ name: 'shop',
        dependencies: { [engine]: '1', '@shop/lib': '*', one: '1' } }),
      'libs/lib/package.json': JSON.stringify({ name: '@shop/lib', main: 'index.ts',
        dependencies: { two: '1' } }), 'libs/lib/index.ts': 'export const lib = 1',
      'libs/unused/package.json': JSON.stringify({ name: 'unused', dependencies: { three: '1' } }),
      'node_modules/@shop/lib': { link: '../../libs/lib' },
      'node_modules/unused': { link: '../libs/unused' }, ...pack('apps/shop/node_modules/one'),
      ...pack('node_modules/two'), ...pack('node_modules/three') }, 'apps/shop')
    expect(packages).toEqual(['apps/shop/node_modules/one', `node_modules/${engine}`,
      'node_modules/two'])
    expect(own).toContain('node_modules/@shop/lib')
    expect(own).not.toContain('node_modules/unused')
    expect(manifest).toMatchObject({ root: 'apps/shop', config: 'apps/shop/langgraph.json',
      graphs: [{ graph_id: 'agent', path: 'apps/shop/agent.ts', export: 'graph' }] })
  })

  it('of a workspace are also those of a package that is imported and not named', async () => {
    const { packages, own } = await builtFrom({ ...small, 'agent.ts': `${agent}import 'lib'`,
      'libs/lib/package.json': '{"main": "index.ts", "dependencies": {"two": "1"}}',
      'libs/lib/index.ts': 'export {}', 'node_modules/lib': { link: '../libs/lib' },
      ...pack('node_modules/two') })
    expect(packages).toEqual([`node_modules/${engine}`, 'node_modules/two'])
    expect(own).toContain('node_modules/lib')
  })

  it.each(['packages:\n  - "apps/*" # all\n  - lib\n', 'a: b\npackages:\n- apps/**\n'])(
    'of a workspace of pnpm are found from its root: %j',
    async (text) => {
      const leaves = Object.entries(project).filter(([name]) => name !== 'package-lock.json')
      const { manifest } = await builtFrom({ ...installed, 'pnpm-workspace.yaml': text,
        'pnpm-lock.yaml': 'lock',
        ...Object.fromEntries(leaves.map(([name, leaf]) => [`apps/shop/${name}`, leaf])) },
        'apps/shop')
      expect(manifest.root).toBe('apps/shop')
    },
  )

  it('have no files that only compilers read, but types that are needed', async () => {
    const types: Leaves = { 'a.d.ts': '', 'a.d.mts': '', 'a.d.cts': '', 'a.js.map': '', 'a.ts': '',
      'history.js': '', 'node_modules/inner/index.js': '' }
    const { manifest, chunks } = await builtFrom({ ...small, ...withNeeds({ one: '1' }),
      ...pack('node_modules/one', { dependencies: { two: '1' } }, types),
      ...pack('node_modules/two', {}, types) })
    const filesOf = async (name: string) => {
      const place = join(await freshFolder(), 'tree')
      await unpack(manifest.archives.filter(({ path }) => path.endsWith(name))
        .map((archive) => ({ ...archive, kind: 'own' as const, path: '' })), place, chunks.read)
      return Object.keys(await readTree(place))
    }
    expect(await filesOf('one')).toEqual(['a.d.mts', 'a.d.ts', 'a.ts', 'history.js', 'index.js',
      'package.json'])
    expect(await filesOf('two')).toEqual(['a.ts', 'history.js', 'index.js', 'package.json'])
  })

  it('run from where they are unpacked', async () => {
    const { manifest, chunks } = await builtFrom({ ...small })
    const cache = await RevisionCache.open({ directory: await freshFolder(), bytesMax: 1e9,
      env: { nowMs: () => 0 } })
    const { root } = await cache.hold(manifest, chunks.read)
    expect(Object.keys(await readTree(root))).toEqual(['agent.ts', 'langgraph.json',
      'package-lock.json', 'package.json'])
  })
})

it('a library may bring an engine of its own, of any age, beside that of the project', async () => {
  const folder = await freshFolder()
  await writeTree(folder, { ...small, ...withNeeds({ one: '1' }), ...libraryWithEngine('one') })
  const { manifest, warnings } = await buildRevision({ config: folder, platform: linux,
    keep: async () => {} })
  const brought = `node_modules/one/node_modules/${engine}`
  expect(manifest.archives.map(({ path }) => path)).toContain(brought)
  expect(warnings).toEqual([`A library brings an ${engine} of its own: 0.1.0 in ${brought}. ` +
    `The project's graphs run on 1.0.0 in node_modules/${engine}, and state does not pass from ` +
    'one to the other.'])
})

it('a project whose login is not there is not built, unless it is left out', async () => {
  const folder = await freshFolder()
  const config = { graphs: { agent: './agent.ts:graph' }, auth: { path: './auth.ts:auth' } }
  await writeTree(folder, { ...small, 'langgraph.json': JSON.stringify(config) })
  const build = (ignoreAuth?: boolean) =>
    buildRevision({ config: folder, platform: linux, ignoreAuth, keep: async () => {} })
  await expect(build()).rejects.toThrow('auth.path names a file that is not there')
  expect((await build(true)).warnings[0]).toContain('--ignore-auth')
  await expect(packSources(folder)).rejects.toThrow('auth.path names a file that is not there')
  expect((await packSources(folder, { ignoreAuth: true })).config).toBe('langgraph.json')
})

describe('own files', () => {
  it('are all that nothing excludes', async () => {
    expect(await ownOf({ 'src/a.md': '', 'src/empty': '', '.config/x': '' })).toEqual(['.config/x',
      'agent.ts', 'langgraph.json', 'package-lock.json', 'package.json', 'src/a.md', 'src/empty'])
  })

  it('never are secrets, data or packages, whatever the ignore files say', async () => {
    const secrets = ['.env', '.env.local', '.ENV', 'src/.env.production', 'a.pem', 'tls/b.KEY',
      '.npmrc', '.git/config', '.heddle/heddle.db', 'src/node_modules/x/index.js']
    const own = await ownOf({ '.gitignore': '!.env\n!*.pem\n',
      ...Object.fromEntries(secrets.map((path) => [path, 'secret'])) })
    expect(own.filter((path) => secrets.includes(path))).toEqual([])
  })

  it('have not the dotenv file that the project names, and its values are nowhere', async () => {
    const { own, manifest } = await builtFrom({ ...small, 'settings.txt': 'TOKEN=hunter2\n',
      'langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}, "env": "settings.txt"}' })
    expect(own).not.toContain('settings.txt')
    expect(manifest).toMatchObject({ env: {}, wants_env: ['TOKEN'] })
    expect(JSON.stringify(manifest)).not.toContain('hunter2')
  })

  it('have what langgraph.json itself sets in the manifest', async () => {
    const { manifest } = await builtFrom({ ...small,
      'langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}, "env": {"A": "1"}}' })
    expect(manifest).toMatchObject({ env: { A: '1' }, wants_env: [], platform: null })
  })

  it('are also those that are ignored and that graphs import', async () => {
    const own = await ownOf({ '.gitignore': 'gen/\n', 'gen/b.ts': 'export const b = 1',
      'gen/c.ts': '', 'agent.ts': `${agent}export { b } from './gen/b.ts'` })
    expect(own).toContain('gen/b.ts')
    expect(own).not.toContain('gen/c.ts')
  })

  it('have the settings of a project whose workspace leaves it out of an image', async () => {
    const { own } = await builtFrom({ '.dockerignore': '*\n!web\n', 'package-lock.json': '{}',
      'package.json': '{"workspaces": ["web", "apps/agent"]}', 'tsconfig.json': '{}',
      'web/page.ts': '', 'notes.txt': '',
      ...Object.fromEntries(Object.entries({ ...small, 'tsconfig.json': '{}', 'notes.txt': '' })
        .map(([path, leaf]) => [`apps/agent/${path}`, leaf])) }, 'apps/agent')
    expect(own.toSorted()).toEqual(['apps/agent/agent.ts', 'apps/agent/langgraph.json',
      'apps/agent/package.json', 'apps/agent/tsconfig.json', 'package.json', 'tsconfig.json',
      'web/page.ts'])
  })

  it('have the lock file for a build elsewhere, also if it is ignored', async () => {
    const folder = await freshFolder()
    await writeTree(folder, { ...project, '.gitignore': 'package-lock.json\n' })
    const { archive } = await packSources(folder)
    expect(archive.files).toBe(Object.keys(project).length + 1)
  })

  it('have not what a shell makes of what the command prints', async () => {
    const folder = await freshFolder()
    await writeTree(folder, { 'agent.ts': agent, 'deploy.log': 'build', 'copy.log': 'build' })
    const { dev, ino } = await lstat(join(folder, 'deploy.log'), { bigint: true })
    const found = await ownFiles({ root: folder, envFile: null, needed: [], filesMax: 9,
      printed: new Set([`${dev} ${ino}`]) })
    expect(found.map(({ path }) => path).toSorted()).toEqual(['agent.ts', 'copy.log'])
  })

  it('have links that stay in the project, and no others', async () => {
    const own = await ownOf({ 'a/link': { link: '../agent.ts' }, 'a/dead': { link: 'nothing' },
      'a/env': { link: '../.env' }, '.env': '' })
    expect(own).toContain('a/link')
    expect(own).not.toContain('a/dead')
    expect(own).not.toContain('a/env')
    await expect(ownOf({ 'a/link': { link: tmpdir() } })).rejects
      .toMatchObject({ code: 'outside_project' })
  })

  const rules: readonly (readonly [name: string, text: string, ignored: string, kept: string])[] = [
    ['.gitignore', '*.log', 'a/b.log', 'a/b.logs'],
    ['.gitignore', '/top', 'top', 'a/top'],
    ['.gitignore', 'out/', 'a/out/x', 'out'],
    ['.gitignore', 'a/b', 'a/b', 'c/a/b'],
    ['.gitignore', '**/deep/x', 'a/b/deep/x', 'a/b/x'],
    ['.gitignore', 'a/**/z', 'a/b/c/z', 'b/z'],
    ['.gitignore', 'a/**', 'a/b/c', 'b/a'],
    ['.gitignore', '*.txt\n!keep.txt', 'a.txt', 'keep.txt'],
    ['.gitignore', '# no\n\\#yes', '#yes', '# no'],
    ['.gitignore', 'x?[a-c]', 'x1b', 'x1d'],
    ['.gitignore', 'x[!a]', 'xb', 'xa'],
    ['.gitignore', 'space \r\nother', 'space', 'spaces'],
    ['.gitignore', 'a.b', 'a.b', 'axb'],
    ['sub/.gitignore', '/x', 'sub/x', 'x'],
    ['.heddleignore', 'big', 'big', 'bigger'],
    ['.dockerignore', 'x', 'x', 'a/x'],
    ['.dockerignore', '**/*.md', 'a/b.md', 'a/b.mdx'],
    ['.dockerignore', './y', 'y', 'a/y'],
  ]
  it.each(rules)('follow %s: %j', async (name, text, ignored, kept) => {
    const own = await ownOf({ [name]: text, [ignored]: '', [kept]: '' })
    expect(own).toContain(kept)
    expect(own).not.toContain(ignored)
  })
})

/** The first bytes of native code for Linux. */
function elf(machine: number, libc = ''): string {
  const bytes = Buffer.alloc(128)
  bytes.write('\x7fELF', 'latin1')
  bytes.writeUInt16LE(machine, 18)
  bytes.write(libc, 64)
  return bytes.toString('latin1')
}

const refusals: Readonly<Record<string, readonly [code: string, message: RegExp, Leaves]>> = {
  'without an engine': ['no_engine', /npm install @langchain\/langgraph/, { ...project,
    'package.json': '{}', 'agent.ts': 'export const graph = 1' }],
  'with two engines': ['two_engines', /1\.0\.0 in shared\/node_modules/, { ...small,
    'agent.ts': `${agent}import './shared/state.ts'`, 'shared/package.json': '{"name": "shared"}',
    'shared/state.ts': agent, ...pack(`shared/node_modules/${engine}`) }],
  'with engines of libraries alone': ['two_engines', /0\.1\.0 in node_modules\/one\/node_mod/, {
    ...project,
    'agent.ts': "export { graph } from 'one'",
    'package.json': '{"dependencies": {"one": "1", "two": "1"}}',
    ...libraryWithEngine('one'),
    ...libraryWithEngine('two'),
  }],
  'with an engine that is too old': ['old_engine', /langgraph 0\.2\.64, .* install 0\.2\.68 or/, {
    ...small,
    [`node_modules/${engine}/package.json`]: '{"version": "0.2.64"}',
  }],
  'without a lock file': ['no_lock_file', /npm install/, { ...small, 'package-lock.json': '' }],
  'with a package that is not installed': ['not_installed', /shop needs absent/, { ...small,
    ...withNeeds({ absent: '1' }, { name: 'shop' }) }],
  'with a package of a package that is not installed': ['not_installed', /one needs absent/, {
    ...small,
    ...withNeeds({ one: '1' }),
    ...pack('node_modules/one', { dependencies: { absent: '1' } }),
  }],
  "with packages of Plug'n'Play": ['not_installed', /write nodeLinker: node-modules into/, {
    ...small,
    ...withNeeds({ absent: '1' }),
    '.pnp.cjs': '',
  }],
  'with an import that is not installed': ['not_installed', /absent/, { ...small,
    'agent.ts': `${agent}import 'absent'` }],
  'with a graph that cannot be compiled': ['no_compile', /agent\.ts:1:\d+/, { ...small,
    'agent.ts': 'export const = 1' }],
  'with native code that was not built': ['needs_compiler', /one 1\.0\.0 has to be compiled/, {
    ...small,
    ...withNeeds({ one: '1' }),
    ...pack('node_modules/one', {}, { 'binding.gyp': '' }),
  }],
  'with native code of another machine': ['other_platform', /one 1\.0\.0 .* linux-x64-glibc/, {
    ...small,
    ...withNeeds({ one: '1' }),
    ...pack('node_modules/one', {}, { 'build/x.node': elf(0xb7) }),
  }],
  'with native code of another C library': ['other_platform', /one/, { ...small,
    ...withNeeds({ one: '1' }),
    ...pack('node_modules/one', {}, { 'x.node': elf(0x3e, 'libc.musl-x86_64.so.1') }) }],
  'with a package of another platform': ['other_platform', /one/, { ...small,
    ...withNeeds({ one: '1' }), ...pack('node_modules/one', { os: ['darwin'] }) }],
  'with a package that names another platform as a text': ['other_platform', /one/, { ...small,
    ...withNeeds({ one: '1' }), ...pack('node_modules/one', { os: 'darwin' }) }],
  'installed elsewhere': ['other_platform', /one-darwin-arm64/, { ...small,
    ...withNeeds({ one: '1' }), ...pack('node_modules/one', {
      optionalDependencies: { 'one-darwin-arm64': '1', 'one-linux-x64': '1' },
    }), ...pack('node_modules/one-darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }) }],
  'with names that differ in case': ['ambiguous_path', /"[aA]\.txt"/, { ...small, 'a.txt': '',
    'A.txt': '' }],
}

describe('a project is refused', () => {
  it.each(Object.entries(refusals))('%s', async (_, [code, message, leaves]) => {
    const error = await builtFrom(leaves).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ name: 'RevisionError', code })
    expect((error as Error).message).toMatch(message)
  })

  it('with a package that lies outside', async () => {
    const folder = await freshFolder()
    await writeTree(folder, { ...pack('other/one'), ...Object.fromEntries(
      Object.entries({ ...small, ...withNeeds({ one: '1' }) })
        .map(([path, leaf]) => [`shop/${path}`, leaf]),
    ), 'shop/node_modules/one': { link: '../../other/one' } })
    await expect(
      buildRevision({ config: join(folder, 'shop'), platform: linux, keep: async () => {} }),
    ).rejects.toMatchObject({ code: 'outside_project' })
  })

  it('with more than the limits allow, before it is read', async () => {
    const folder = await freshFolder()
    await writeTree(folder, { ...small, 'data/large': 'x'.repeat(10_000) })
    const limits = { compressedBytes: 1e9, unpackedBytes: 1e9, files: 1e4 }
    for (const smaller of [{ unpackedBytes: 9_000 }, { files: 3 }, { compressedBytes: 100 }]) {
      await expect(
        buildRevision({ config: folder, platform: linux, keep: async () => {},
          limits: { ...limits, ...smaller } }),
      ).rejects.toMatchObject({ code: 'too_large' })
    }
  })
})

describe('native code', () => {
  it('that runs there names the platform, also beside that of others', async () => {
    const { manifest, packages } = await builtFrom({ ...small, ...withNeeds({ one: '1' }),
      ...pack('node_modules/one', { optionalDependencies: { musl: '1', gnu: '1' } }, {
        'binding.gyp': '',
        'arm.node': elf(0xb7),
        'x64.node': elf(0x3e),
      }), ...pack('node_modules/musl', { os: ['linux'], libc: ['musl'] }),
      ...pack('node_modules/gnu', { os: ['linux', '!win32'], cpu: ['!arm'], libc: ['glibc'] }) })
    expect(manifest.platform).toBe('linux-x64-glibc')
    expect(packages).toEqual([`node_modules/${engine}`, 'node_modules/gnu', 'node_modules/one'])
  })

  it('may have packages of another libc beside its own, and lack those of other machines',
    async () => {
      const { packages } = await builtFrom({ ...small, ...withNeeds({ css: '1' }),
        ...pack('node_modules/css', {
          optionalDependencies: { 'css-linux-x64-musl': '1', 'css-linux-x64-gnu': '1',
            'css-linux-arm64-gnu': '1' },
        }),
        ...pack('node_modules/css-linux-x64-musl', { os: ['linux'], cpu: ['x64'], libc: ['musl'] }),
        ...pack('node_modules/css-linux-x64-gnu', { os: ['linux'], cpu: ['x64'],
          libc: ['glibc'] }) })
      expect(packages).toContain('node_modules/css-linux-x64-gnu')
      expect(packages).not.toContain('node_modules/css-linux-x64-musl')
    })

  it('is for a platform that has a name', () => {
    expect(platformOf('linux-arm64')).toEqual({ os: 'linux', cpu: 'arm64', libc: 'glibc' })
    expect(platformOf('darwin-arm64-musl')).toBeUndefined()
    expect(platformHere()).toMatchObject({ os: process.platform, cpu: process.arch })
  })
})

it('builds the same revision twice, also somewhere else', async () => {
  const [one, other] = [await builtFrom(small), await builtFrom(small)]
  expect(other.manifest).toEqual(one.manifest)
})
