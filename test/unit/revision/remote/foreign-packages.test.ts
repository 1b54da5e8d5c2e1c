/** Packages that a server does not install for others: where lock files and settings lead. */

import { describe, expect, it } from 'vitest'

import { RevisionError } from '../../../../src/revision/index.ts'
import { requireRegistryLock,
  requireRegistrySettings } from '../../../../src/revision/remote/foreign-packages.ts'
import { openHosts } from '../../../../src/revision/remote/open-hosts.ts'

function codeOf(check: () => void): string {
  try {
    check()
    return 'allowed'
  } catch (error) {
    return error instanceof RevisionError ? error.code : String(error)
  }
}

const ofLock = (name: string, text: string) =>
  codeOf(() => requireRegistryLock({ folder: '/', name, text }))
const pnpm = (line: string) => ofLock('pnpm-lock.yaml', `lockfileVersion: '9.0'\n${line}\n`)
const npm = (text: object) =>
  ofLock('package-lock.json', JSON.stringify({ lockfileVersion: 3, ...text }))
const yarnTwo = (line: string) => ofLock('yarn.lock', `__metadata:\n  version: 8\n\n${line}\n`)
const yarnOne = (line: string) => ofLock('yarn.lock', `# yarn lockfile v1\n\n${line}\n`)
const bun = (line: string) => ofLock('bun.lock', `{ "packages": {\n${line}\n} }`)
const ups = (count: number) => '../'.repeat(count)

describe('a lock file', () => {
  it.each([
    ['npm', npm({
      packages: { 'node_modules/a': { resolved: 'https://r.example/a.tgz' },
        'node_modules/b': { resolved: 'parts/b', link: true, license: 'MIT',
          deprecated: 'Ask a@example.org: it is old.' },
        'parts/b': { dependencies: { c: 'file:../c' } } },
    })],
    ['pnpm', pnpm(
      "a:\n  version: link:../../parts/b\n  '@s/a@1.0.0(b@1)': {deprecated: old, hasBin: true}",
    )],
    ['yarn 2', yarnTwo('"a@npm:^1, a@patch:a@npm%3A1.0.0#~/.yarn/patches/a.patch":\n' +
      '  resolution: "a@workspace:parts/a"')],
    ['yarn 1', yarnOne('"@s/a@^1":\n  resolved "https://r.example/@s/a.tgz#abc"\n' +
      '  integrity sha512-/a+b/c==')],
    ['bun', bun('"a": ["a@1.0.0", "", {}, "sha512-/a=="], "b": ["b@workspace:parts/b"],')],
  ])('of %s may name registries, patches, and the project', (_, code) => {
    expect(code).toBe('allowed')
  })

  it.each([
    npm({ packages: { 'node_modules/a': { resolved: 'git+ssh://git@example.org/a.git#1' } } }),
    pnpm('a:\n  resolution: {type: git, repo: "https://example.org/a"}'),
    pnpm('node@runtime:24.0.0:\n  resolution: {type: variations}'),
    pnpm('node:\n  resolution:\n    "type": "bin\\x61ry"'),
    yarnTwo('"a@exec:./a.cjs":\n  resolution: "a@exec:./a.cjs#./a.cjs::hash=1"'),
    yarnTwo('"a@patch:a@exec%3A./a.cjs#./a.patch":\n  version: 1'),
    yarnTwo('"a@patch:a%40%65xec%3A./a.cjs#./a.patch":\n  version: 1'),
    yarnTwo('"a@patch:a@patch%3Aa@%2565xec%253A./a.cjs#./a.patch":\n  version: 1'),
    yarnTwo('"a@\\u0065xec:./a.cjs":\n  version: 1'),
    yarnOne('a@1:\n  resolved "git+https://example.org/a.git#1"'),
    bun('"a": ["a@github:some/a#1", {}],'),
    bun('"a": ["a@git\\u0068ub:some/a#1", {}],'),
  ])('is refused that names packages of elsewhere (%#)', (code) => {
    expect(code).toBe('not_from_registry')
  })

  it.each([
    npm({ packages: { 'node_modules/a': { resolved: 'http://127.0.0.1:9042/a.tgz' } } }),
    npm({ packages: { 'node_modules/a': { resolved: 'https://localhost/a.tgz' } } }),
    npm({ packages: { 'node_modules/a': { resolved: 'http://169.254.169.254/latest/a.tgz' } } }),
    npm({ packages: { 'node_modules/a': { resolved: 'http://0x7f.1/a.tgz' } } }),
    npm({ packages: { 'node_modules/a': { resolved: 'http://[::ffff:10.0.0.1]/a.tgz' } } }),
    npm({ packages: { 'node_modules/a': { resolved: 'http:\\\\192.168.0.1\\a.tgz' } } }),
    npm({ dependencies: { a: { version: 'http://u:p@2130706433/a.tgz' } } }),
    pnpm("a:\n  resolution: {tarball: 'http://10.1.2.3/a.tgz'}"),
    pnpm("a:\n  resolution: {tarball: 'http%3A%2F%2F127.0.0.1%2Fa.tgz'}"),
    yarnOne('a@1:\n  resolved "http://127.0.0.1:1/a.tgz#abc"'),
    yarnTwo('"a@http://127.0.0.1/a.tgz":\n  version: 1'),
    bun('"a": ["a@http://127.0.0.1/a.tgz", {}],'),
  ])('is refused that names a place of the server or of its network (%#)', (code) => {
    expect(code).toBe('not_from_registry')
  })

  it('may name the registry of the server, wherever that is', () => {
    const text = (port: number) =>
      JSON.stringify({ packages: { a: { resolved: `http://127.0.0.1:${port}/a.tgz` } } })
    const lock = (port: number) => ({ folder: '/', name: 'package-lock.json', text: text(port) })
    const hosts = openHosts('http://127.0.0.1:4873/')
    expect(codeOf(() => requireRegistryLock(lock(4873), hosts))).toBe('allowed')
    expect(codeOf(() => requireRegistryLock(lock(4874), hosts))).toBe('not_from_registry')
    expect(codeOf(() => requireRegistryLock(lock(4874), openHosts(undefined, ['127.0.0.1']))))
      .toBe('allowed')
  })

  it.each([
    npm({ packages: { [`${ups(9)}victim`]: {} } }),
    npm({ packages: { '/victim': {} } }),
    npm({ packages: { 'node_modules/a': { resolved: 'file:/etc/a.tgz' } } }),
    npm({ packages: { 'node_modules/a': { version: `file:${ups(9)}a` } } }),
    pnpm('a:\n  version: link:/etc'),
    pnpm(`a:\n  version: link:${ups(9)}etc`),
    pnpm(`a:\n  version: link:${ups(5)}\n    b/${ups(5)}etc`),
    pnpm('a:\n  resolution: {directory: /etc, type: directory}'),
    pnpm('importers: {.: {dependencies: {deprecated: {version: "link:/etc"}, bin: {}}}}'),
    pnpm('a:\n  version: "file:\\x2fetc"'),
    pnpm('a:\n  version: file:%2fetc'),
    pnpm('a:\n  version: file:~/etc'),
    yarnTwo('"a@portal:/etc::locator=b":\n  version: 1'),
    yarnOne('"a@file:/etc":\n  version "1.0.0"'),
    yarnOne('a@1:\n  resolved "/etc/a.tgz"'),
    bun('"a": ["a@file:\\/etc", {}],'),
    bun(`"a": ["a@file:${ups(9)}etc", {}],`),
    pnpm("a:\n  version: 'link:C:\\etc'"),
  ])('is refused that leads out of the project (%#)', (code) => {
    expect(code).toBe('outside_project')
  })

  it.each([
    ['package-lock.json', '{'],
    ['pnpm-lock.yaml', 'a: 1\na: 2'],
    ['bun.lockb', 'any'],
    ['pnpm-lock.yaml', 'pnpmfileChecksum: abc'],
  ])('is refused that cannot be read, or needs code of the project: %s', (name, text) => {
    expect(ofLock(name, text)).toBe('no_install')
  })
})

describe('settings of a project', () => {
  const settings = (kept: object, folder = '') =>
    codeOf(() => requireRegistrySettings({ ...kept }, folder, 'package.json'))

  it('may name registries and the project', () => {
    expect(
      settings({
        dependencies: { a: '^1', b: '~2.0', c: 'npm:d@1', e: 'file:parts/e', f: 'workspace:*',
          g: 'https://r.example/g.tgz', h: '>=1 <2 || 3' },
        workspaces: ['apps/*', '!apps/x'],
      }),
    ).toBe('allowed')
    expect(settings({ dependencies: { a: 'link:../parts/a' } }, 'apps')).toBe('allowed')
  })

  it.each([
    [{ dependencies: { a: 'git+ssh://git@example.org/a.git' } }, 'not_from_registry'],
    [{ devDependencies: { a: 'exec:./a.cjs' } }, 'not_from_registry'],
    [{ dependencies: { a: 'http://127.0.0.1/a.tgz' } }, 'not_from_registry'],
    [{ overrides: { a: { b: 'http://[::1]/b.tgz' } } }, 'not_from_registry'],
    [{ dependencies: { a: 'runtime:24' } }, 'not_from_registry'],
    [{ workspaces: ['../victim'] }, 'outside_project'],
    [{ workspaces: { packages: ['!x', 'a/../../victim'] } }, 'outside_project'],
    [{ packages: ['/victim'] }, 'outside_project'],
    [{ dependencies: { a: 'link:../a' } }, 'outside_project'],
    [{ dependencies: { a: 'file:%2e%2e/a' } }, 'outside_project'],
    [{ overrides: { a: 'file:/etc' } }, 'outside_project'],
    [{ patchedDependencies: { a: 'patches/../../a.patch' } }, 'outside_project'],
  ])('are refused that lead elsewhere: %j', (kept, code) => {
    expect(settings(kept)).toBe(code)
  })
})
