/** The package manager of a build: which one it is, what it is given, and what it may see. */

import { existsSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { platformHere, RevisionError, revisionLimits } from '../../../../src/revision/index.ts'
import { buildEnvironment } from '../../../../src/revision/remote/build-environment.ts'
import { inWork } from '../../../../src/revision/remote/build-mail.ts'
import { installPackages } from '../../../../src/revision/remote/install.ts'
import { freshFolder, readTree, writeTree } from '../trees.ts'
import type { Leaves } from '../trees.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

const system = `${dirname(process.execPath)}:/usr/bin:/bin`
const locks = {
  npm: { 'package-lock.json': '{"lockfileVersion": 3}' },
  pnpm: { 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" },
  yarnOne: { 'yarn.lock': '# yarn lockfile v1\n\na@1:\n  version "1.0.0"\n' },
  yarnTwo: { 'yarn.lock': '__metadata:\n  version: 8\n' },
  bun: { 'bun.lock': '{"lockfileVersion": 1}' },
} satisfies Record<string, Leaves>

/** Programs that copy what they see, and note with what they were called. */
async function house(programs: Readonly<Record<string, string>>, files: Leaves,
  config = 'langgraph.json') {
  const work = await freshFolder()
  const [project, seen, bin] = [join(work, inWork.project), join(work, 'seen'), join(work, 'bin')]
  await mkdir(join(work, inWork.empty))
  await writeTree(bin, Object.fromEntries(
    Object.entries(programs).map(([name, version]) => [name, { program: `#!/bin/sh
if [ "$1" = --version ]; then pwd > ${work}/tried; echo ${version}; exit; fi
echo "${name} $@" > ${work}/called; cp -R ${project} ${seen}
` }]),
  ))
  await writeTree(project, { 'package.json': '{"name": "shop"}',
    'langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}}', 'agent.ts': '', ...files })
  const install = async (path = `${bin}:${system}`) => {
    vi.stubEnv('PATH', path)
    return await installPackages({ source: { kind: 'tar' }, config,
      said: { wantsEnv: [], source: { commit: null, branch: null, dirty: false } },
      platform: platformHere(), scope: 'acme', limits: revisionLimits, work,
      installed: join(work, 'installed') }, () => {}).then(
        () => readFileSync(join(work, 'called'), 'utf8').trim(),
        (error: unknown) => {
          if (!(error instanceof RevisionError)) throw error
          return `${error.code}: ${error.message}`
        },
      )
  }
  return { work, project, install, seen: () => readTree(seen), own: () => readTree(project) }
}

describe('the package manager of a build', () => {
  it.each([
    [locks.npm, { npm: '11.0.0' },
      'npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=notice'],
    [locks.pnpm, { pnpm: '10.0.0' }, 'pnpm install --frozen-lockfile --prod --ignore-scripts ' +
      '--loglevel=info --ignore-pnpmfile --ignore-workspace'],
    [{ ...locks.pnpm, 'pnpm-workspace.yaml': 'packages: [a]' }, { pnpm: '10.0.0' },
      'pnpm install --frozen-lockfile --prod --ignore-scripts --loglevel=info ' +
      '--ignore-pnpmfile'],
    [locks.yarnOne, { yarn: '1.22.22' }, 'yarn install --frozen-lockfile --production ' +
      '--ignore-scripts --non-interactive --no-default-rc'],
    [locks.yarnTwo, { yarn: '4.1.0' }, 'yarn install --immutable --mode=skip-build'],
    [locks.bun, { bun: '1.3.0' }, 'bun install --frozen-lockfile --production --ignore-scripts'],
  ])('is that of the lock file: %j', async (lock, programs, command) => {
    expect(await (await house(programs, lock)).install()).toBe(command)
  })

  it('is the one that package.json names, if there are several lock files', async () => {
    const files = { ...locks.npm, ...locks.bun, ...locks.pnpm,
      'package.json': '{"packageManager": "pnpm@10.0.0+sha512.abc"}' }
    expect(await (await house({ pnpm: '10.0.0' }, files)).install()).toMatch(/^pnpm install/)
  })

  it('is refused in words if the server has none, or another one', async () => {
    const way = /have it installed there, or deploy without --remote/
    const none = await (await house({}, locks.pnpm)).install()
    expect(none).toMatch(/^no_install: pnpm-lock\.yaml needs pnpm, which the server/)
    expect(none).toMatch(way)
    const older = await house({ yarn: '1.22.22' }, locks.yarnTwo)
    const refusal = await older.install()
    expect(refusal).toMatch(/needs yarn 2 or later, and the server that builds has yarn 1\.22\.22/)
    expect(refusal).toMatch(way)
    expect(readFileSync(join(older.work, 'tried'), 'utf8').trim())
      .toBe(join(older.work, inWork.empty))
    expect(await (await house({ yarn: '4.1.0' }, locks.yarnOne)).install())
      .toMatch(/needs yarn 1, and the server that builds has yarn 4\.1\.0/)
    expect(await (await house({ yarn: '"No network" >&2; exit 1\ntrue' }, locks.yarnOne)).install())
      .toMatch(/a yarn which does not run: No network: have it installed/)
    expect(await (await house({ pnpm: '"No network" >&2; exit 1\ntrue' }, locks.pnpm)).install())
      .toMatch(/a pnpm which does not run: No network: have it installed/)
  })

  it('is never a file of the project', async () => {
    const { project, install } = await house({}, { ...locks.pnpm,
      pnpm: { program: '#!/bin/sh\ntouch ran' }, 'bin/pnpm': { program: '#!/bin/sh\ntouch ran' } })
    const before = process.cwd()
    onTestFinished(() => process.chdir(before))
    process.chdir(project)
    expect(await install(`.::bin:${system}`)).toMatch(/^no_install: pnpm-lock\.yaml needs pnpm/)
    expect(existsSync(join(project, 'ran'))).toBe(false)
  })

  it('sees of settings what names and places packages', async () => {
    const files = { ...locks.pnpm, '.npmrc': 'a', '.yarnrc': 'a', '.pnpmfile.cjs': 'a',
      '.pnpmfile.mjs': 'a', 'bunfig.toml': 'a', '.corepack.env': 'a', '.pnp.cjs': 'a',
      '.yarnrc.kept.yml': 'yarnPath: a', 'apps/.npmrc': 'a', 'apps/bunfig.toml': 'a',
      '.yarnrc.yml': 'yarnPath: a\nplugins: [a]\n"catalog":\n  b: 1.0.0\nnpmAuthToken: ${A}\n',
      'pnpm-workspace.yaml': 'packages: [apps]\nconfigDependencies: {a: 1}\npnpmfile: a\n' +
        '"storeDir": /a\n<<: {scriptShell: a}\ncatalog: {b: ^1}\n',
      'package.json': JSON.stringify({ name: 'shop', packageManager: 'pnpm@1', scripts: { a: 'b' },
        devEngines: {}, engines: {}, dependencies: { b: '1' },
        pnpm: { overrides: { b: '2' }, executionEnv: {}, onlyBuiltDependencies: ['b'] } }),
      'apps/package.json': '{"name": "app", "scripts": {"postinstall": "b"}}',
      'apps/test/package.json': 'no JSON' }
    const { install, seen, own } = await house({ pnpm: '10.0.0' }, files)
    const before = await own()
    expect(await install()).toMatch(/^pnpm install/)
    expect(await seen()).toEqual({ 'agent.ts': '', 'langgraph.json': before['langgraph.json'],
      ...locks.pnpm, '.yarnrc.kept.yml': '{"catalog":{"b":"1.0.0"}}',
      'pnpm-workspace.yaml': '{"packages":["apps"],"catalog":{"b":"^1"}}',
      'package.json': '{"name":"shop","dependencies":{"b":"1"},"pnpm":{"overrides":{"b":"2"}}}',
      'apps/package.json': '{"name":"app"}' })
    expect(await own()).toEqual(before)
  })

  it('sees no other lock file, and no workspace that is not that of its own', async () => {
    const { install, seen } = await house({ pnpm: '10.0.0' }, { ...locks.yarnOne, ...locks.pnpm,
      'npm-shrinkwrap.json': '{}', 'pnpm-workspace.yaml': 'packages: [apps/shop, ../victim]',
      'package.json': '{"workspaces": ["apps/shop", "../victim"]}',
      'apps/shop/langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}}',
      'apps/shop/agent.ts': '', 'apps/shop/pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
      'apps/shop/yarn.lock': '', 'apps/shop/package.json': '{"packageManager": "pnpm@10.0.0"}' },
      'apps/shop/langgraph.json')
    expect(await install()).toMatch(/--ignore-workspace$/)
    expect(Object.keys(await seen()).filter((path) => !path.endsWith('langgraph.json')))
      .toEqual(['agent.ts', 'apps/shop/agent.ts', 'apps/shop/package.json',
        'apps/shop/pnpm-lock.yaml'])
  })

  it.each([
    [{ 'package.json': '{"workspaces": ["../victim"]}' }, /^outside_project: package\.json/],
    [{ 'pnpm-workspace.yaml': 'packages: ["../victim"]' }, /^outside_project: pnpm-workspace/],
    [{ 'pnpm-workspace.yaml': 'packages: [' }, /^no_install: pnpm-workspace.yaml/],
    [{ 'package.json': '{"dependencies": {"a": "exec:./a"}}' }, /^not_from_registry/],
  ])('is not begun for settings that lead elsewhere: %j', async (files, refusal) => {
    const { work, install } = await house({ pnpm: '10.0.0' }, { ...locks.pnpm, ...files })
    expect(await install()).toMatch(refusal)
    expect(existsSync(join(work, 'called'))).toBe(false)
  })
})

describe('the variables of a build', () => {
  it('have no secret, no login of the machine, and no folder that is not absolute', () => {
    const seen = buildEnvironment({ PATH: '.:/usr/bin::node_modules/.bin', HOME: '/srv/heddle',
      NPM_TOKEN: 'secret', NODE_OPTIONS: 'secret', npm_config_userconfig: 'secret',
      PREFIX: 'secret', YARN_PLUGINS: 'secret', XDG_CONFIG_HOME: 'secret' }, '/srv/build')
    expect(JSON.stringify(seen)).not.toContain('secret')
    expect(seen).toMatchObject({ PATH: `${dirname(process.execPath)}:/usr/bin`, HOME: '/srv/build',
      npm_config_globalconfig: '/srv/build/npmrc', PREFIX: '/srv/build' })
  })

  it('name the registry as each package manager reads it', () => {
    expect(buildEnvironment({ NPM_CONFIG_REGISTRY: 'http://packages.example:8080' }, '/h'))
      .toMatchObject({ npm_config_registry: 'http://packages.example:8080',
        pnpm_config_registry: 'http://packages.example:8080',
        YARN_NPM_REGISTRY_SERVER: 'http://packages.example:8080',
        YARN_UNSAFE_HTTP_WHITELIST: 'packages.example' })
  })

  it('let corepack start what the machine has, and nothing else', () => {
    expect(buildEnvironment({ HOME: '/srv/heddle' }, '/h')).toMatchObject({
      COREPACK_HOME: '/srv/heddle/.cache/node/corepack',
      COREPACK_ENABLE_NETWORK: '0',
      COREPACK_ENABLE_PROJECT_SPEC: '0',
      COREPACK_ENV_FILE: '0',
    })
  })
})
