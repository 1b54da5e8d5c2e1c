/**
 * By night: projects that try to run code on the server that builds them, to reach its files, or
 * to learn its logins, each with the real package manager that it aims at.
 */

import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { buildWith, freshRoot, installManagers, installWith,
  managers } from '../support/package-managers.ts'
import { startRegistry } from '../support/package-registry.ts'
import type { PackageRegistry } from '../support/package-registry.ts'
import { writeTree } from '../unit/revision/trees.ts'
import type { Leaves } from '../unit/revision/trees.ts'

const engine = '@langchain/langgraph'
const titled = (title: string) => managers.find((each) => each.title === title)!
const pnpms = ['pnpm 10', 'pnpm 12']

interface Attack {
  readonly by: string
  readonly manager: string
  /**
   * Files by path. RAN is a file that code of the project makes if it runs, OUTSIDE a folder of the
   * server.
   */
  readonly files: Leaves
  /** True if the files are there when the lock file is made, too. */
  readonly isLocked?: boolean
  readonly needs?: Readonly<Record<string, string>>
  /** Fields of its package.json. */
  readonly more?: object
  /** What its refusal says; without it, it is built. */
  readonly refused?: RegExp
}

const code = "require('node:fs').writeFileSync('RAN', '')"
const login = `REGISTRYHOST/:_${'auth'}Token=stolen-login`

const attacks: readonly Attack[] = [
  { by: 'scripts of its own', manager: 'yarn 4', files: {},
    more: { scripts: { postinstall: `node -e "${code}"` } } },
  ...['npm', ...pnpms, 'yarn 1', 'bun'].map((manager) => ({ by: 'scripts of its own', manager,
    files: {},
    more: { scripts: { preinstall: `node -e "${code}"`, prepare: `node -e "${code}"` } } })
  ),
  { by: 'yarnPath', manager: 'yarn 4',
    files: { '.yarnrc.yml': 'yarnPath: ./evil.cjs\n', 'evil.cjs': code } },
  { by: 'plugins', manager: 'yarn 4',
    files: { '.yarnrc.yml': 'plugins: [./evil.cjs]\n', 'evil.cjs': code } },
  { by: 'settings under the name that is read', manager: 'yarn 4', files: {
    '.yarnrc.kept.yml': 'plugins: [./evil.cjs]\n',
    'evil.cjs': code,
  } },
  { by: 'constraints', manager: 'yarn 4',
    files: { '.yarnrc.yml': 'enableConstraintsChecks: true\n',
      'yarn.config.cjs': `module.exports = { constraints: async () => { ${code} } }` } },
  { by: 'a package that a program makes', manager: 'yarn 4', isLocked: true,
    needs: { made: 'exec:./gen.cjs' }, files: { 'gen.cjs': `${code}
      require('node:fs').writeFileSync(execEnv.buildDir + '/package.json',
        '{"name": "made", "version": "1.0.0"}')` }, refused: /comes from exec/ },
  { by: 'yarn-path', manager: 'yarn 1',
    files: { '.yarnrc': 'yarn-path "./evil.cjs"\n', 'evil.cjs': code } },
  ...pnpms.flatMap((manager): Attack[] => [
    { by: '.pnpmfile.cjs', manager, files: { '.pnpmfile.cjs': code } },
    { by: 'pnpmfile', manager,
      files: { 'evil.cjs': code,
        'pnpm-workspace.yaml': 'packages: ["."]\npnpmfile: ./evil.cjs\nignorePnpmfile: false\n' } },
    { by: 'another version of it', manager, files: {},
      more: { packageManager: 'pnpm@9.15.9',
        devEngines: { packageManager: { name: 'pnpm', version: '9.15.9', onFail: 'download' } } } },
    { by: 'a package of settings', manager, files: { 'pnpm-workspace.yaml': 'packages: ["."]\n' +
      'configDependencies:\n  pnpm-plugin-evil: "1.0.0+INTEGRITY"\n' } },
    { by: 'a folder beside it', manager, isLocked: true, needs: { victim: 'workspace:*' },
      files: { 'pnpm-workspace.yaml': 'packages: [".", "../victim"]\n',
        '../victim/package.json': '{"name": "victim", "dependencies": {"leaf": "1.0.0"}}' },
      refused: /outside of the project/ },
    { by: 'a folder of modules beside it', manager, files: {
      'pnpm-workspace.yaml': 'packages: ["."]\nvirtualStoreDir: OUTSIDE\nstoreDir: OUTSIDE\n',
    } },
    { by: 'files of the server', manager, isLocked: true, needs: { loot: 'file:OUTSIDE' },
      files: { 'OUTSIDE/package.json': '{"name": "loot", "version": "1.0.0"}',
        'OUTSIDE/secret': 'top-secret' }, refused: /outside of the project/ },
  ]),
  { by: 'a folder beside it', manager: 'bun', isLocked: true, more: { workspaces: ['../victim'] },
    files: { '../victim/package.json': '{"name": "victim", "dependencies": {"leaf": "1.0.0"}}' },
    refused: /outside of the project/ },
  { by: 'a scanner', manager: 'bun', files: {
    'bunfig.toml': '[install.security]\nscanner = "./evil.cjs"\n',
    'evil.cjs': code,
  } },
  { by: 'packages that it trusts', manager: 'bun', isLocked: true,
    more: { trustedDependencies: ['leaf', engine] }, files: {} },
  { by: 'files of the server', manager: 'bun', isLocked: true, needs: { loot: 'file:OUTSIDE' },
    files: { 'OUTSIDE/package.json': '{"name": "loot", "version": "1.0.0"}',
      'OUTSIDE/secret': 'top-secret' }, refused: /outside of the project/ },
  { by: 'files of the server', manager: 'yarn 1', isLocked: true, needs: { loot: 'file:OUTSIDE' },
    files: { 'OUTSIDE/package.json': '{"name": "loot", "version": "1.0.0"}',
      'OUTSIDE/secret': 'top-secret' }, refused: /outside of the project/ },
  { by: 'files of the server', manager: 'yarn 4', isLocked: true, needs: { loot: 'file:OUTSIDE' },
    files: { 'OUTSIDE/package.json': '{"name": "loot", "version": "1.0.0"}',
      'OUTSIDE/secret': 'top-secret' }, refused: /outside of the project/ },
  ...['npm', ...pnpms, 'yarn 1', 'bun'].map((manager) => ({ by: 'a login in .npmrc', manager,
    files: { '.npmrc': `//${login}\n`, 'packages/.npmrc': `//${login}\n` } })
  ),
  { by: 'a login in .yarnrc.yml', manager: 'yarn 4', files: {
    '.yarnrc.yml': 'npmAuthToken: "${HEDDLE_SECRET}-stolen-login"\nnpmAlwaysAuth: true\n',
  } },
]

describe('a project cannot harm the server that builds it', () => {
  let registry: PackageRegistry
  let marks: string

  beforeAll(async () => {
    await installManagers()
    marks = join(import.meta.dirname, '../managers/node_modules/.marks')
    await writeTree(marks, { 'started': '' })
    const scripts = { preinstall: `touch ${marks}/dependency`, install: `touch ${marks}/dependency`,
      postinstall: `touch ${marks}/dependency` }
    registry = await startRegistry([
      { manifest: { name: engine, version: '1.0.0', scripts, dependencies: { leaf: '^1.0.0' } },
        files: { 'index.js': 'module.exports = 1' } },
      { manifest: { name: 'leaf', version: '1.0.0', scripts } },
      { manifest: { name: 'pnpm', version: '9.15.9', bin: 'evil.cjs' }, files: {
        'evil.cjs': `require('node:fs').writeFileSync('${marks}/pnpm', '')`,
      } },
      { manifest: { name: 'pnpm-plugin-evil', version: '1.0.0' }, files: {
        'pnpmfile.cjs': `require('node:fs').writeFileSync('${marks}/plugin', '')`,
      } },
    ])
  })

  afterAll(async () => {
    await rm(marks, { recursive: true, force: true })
    await registry?.close()
  })

  it.each(attacks)('$manager: $by', async (attack) => {
    const manager = titled(attack.manager)
    const root = await freshRoot()
    const [project, outside, ran] = ['project', 'outside', 'ran'].map((name) =>
      join(root, name)
    ) as [string, string, string]
    const filled = (text: string) =>
      text.replaceAll('RAN', ran).replaceAll('OUTSIDE', outside)
        .replaceAll('REGISTRYHOST', new URL(registry.url).host)
        .replaceAll('INTEGRITY', registry.integrity('pnpm-plugin-evil'))
    const files = Object.fromEntries(
      Object.entries(attack.files).map((
        [path, leaf],
      ) => [filled(path).replace(`${root}/`, '../'), filled(leaf as string)]),
    )
    const { needs, more } = JSON.parse(
      filled(JSON.stringify({ needs: attack.needs ?? {}, more: attack.more ?? {} })),
    ) as { readonly needs: object; readonly more: object }
    const manifest = { name: 'shop', private: true, dependencies: { [engine]: '1.0.0', ...needs } }
    await writeTree(project, { 'package.json': JSON.stringify(attack.isLocked
      ? { ...manifest, ...more }
      : manifest), 'langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}}',
      'agent.ts': `import '${engine}'\nexport const graph = 1\n`, ...attack.isLocked ? files : {} })
    await installWith(manager, project, registry.url)
    await writeTree(project, { ...files, 'package.json': JSON.stringify({ ...manifest, ...more }) })
    for (const each of ['project', 'victim']) {
      await rm(join(root, each, 'node_modules'), { recursive: true, force: true })
    }
    await rm(ran, { force: true })
    const before = registry.requests.length
    const { text, ...built } = await buildWith(manager, project, registry.url).then(
      ({ text: all }) => ({ text: all, end: 'built' }),
      (error: unknown) => ({ text: '', end: String(error) }),
    )
    expect.soft(built.end).toMatch(attack.refused ?? /^built$/)
    expect.soft(existsSync(ran)).toBe(false)
    expect.soft(readdirSync(marks)).toEqual(['started'])
    expect.soft(existsSync(join(root, 'victim/node_modules'))).toBe(false)
    expect.soft(readdirSync(root).filter((name) => name === 'outside' && !attack.needs)).toEqual([])
    expect.soft(text).not.toContain('top-secret')
    expect.soft(JSON.stringify(registry.requests.slice(before))).not.toContain('stolen-login')
  })
})
