/**
 * A project whose packages are not installed is deployed: by `heddle deploy --remote`, and by the
 * unmodified command line of the ecosystem. The server installs and builds it.
 */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { runNewCommand } from '../../src/cli/new-command.ts'
import { heddleProcessIn } from '../support/command.ts'
import { installPackages } from '../support/installed-packages.ts'
import { runIn } from '../support/project-command.ts'
import { say, texts } from '../support/run-events.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'

const officialFolder = resolve(import.meta.dirname, '../official-cli')
const official = join(officialFolder, 'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs')

let root: string
let shop: string
let registry: string
let server: ServerProcess

beforeAll(async () => {
  await installPackages(officialFolder, 'the command line of the ecosystem')
  root = await mkdtemp(join(tmpdir(), 'heddle-remote-'))
  shop = join(root, 'shop')
  expect(await runIn(root, runNewCommand, shop)).toMatchObject({ status: 0, stderr: '' })
  // This checkout is no package that anybody else could install.
  const { devDependencies: _, ...manifest } = JSON.parse(
    readFileSync(join(shop, 'package.json'), 'utf8'),
  ) as Record<string, unknown>
  writeFileSync(join(shop, 'package.json'), JSON.stringify(manifest))
  const npm = async (...args: readonly string[]) =>
    (await promisify(execFile)('npm', args, { cwd: shop })).stdout.trim()
  registry = await npm('config', 'get', 'registry')
  await npm('install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund')
  server = await startServer({ args: oneWorker, dataDir: join(root, 'data'),
    env: { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '', npm_config_registry: registry } })
})

afterAll(async () => {
  await server?.close()
  if (root !== undefined) rmSync(root, { recursive: true, force: true })
})

const inShop = (...args: readonly string[]) =>
  heddleProcessIn({ INIT_CWD: shop, npm_lifecycle_event: 'heddle', HEDDLE_URL: server.url },
    ...args)

/** Deploys. Resolves with the steps by name. */
async function deploy(...args: readonly string[]) {
  const ended = await inShop('deploy', '--remote', '--json', '--no-watch', ...args)
  const lines = ended.stdout.trim().split('\n').filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  return { ...ended, last: lines.at(-1), said: lines.flatMap(({ text: line }) => line ?? []),
    step: (name: string) => lines.find((line) => line['step'] === name) }
}

/** Runs the command line of the ecosystem as its users do. */
async function deployOfficially(...args: readonly string[]) {
  const child = spawn(process.execPath, [official, 'deploy', '--remote', '--verbose', '--no-input',
    '--name', 'official', '--host-url', `${server.url}/control/hosted`, ...args], { cwd: shop,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LANGSMITH_API_KEY: 'any', LANGGRAPH_CLI_NO_ANALYTICS: '1' } })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr),
    once(child, 'close') as Promise<[number | null]>])
  return { status, said: stdout + stderr }
}

async function answer(name: string): Promise<string | undefined> {
  const { runs, threads } = clientOf(`${server.url}/d/${name}`)
  const { thread_id: id } = await threads.create()
  return texts(await runs.wait(id, 'agent', { input: say('weather in Paris?') })).at(-1)
}

const echo = (said: string) =>
  `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
export const agent = new StateGraph(MessagesAnnotation)
  .addNode('reply', () => ({ messages: [{ role: 'ai', content: ${said} }] }))
  .addEdge('__start__', 'reply').compile()
`
const change = (said: string) => writeFileSync(join(shop, 'src/agent.ts'), echo(said))
const left = () =>
  !existsSync(join(root, 'data/builds'))
    ? []
    : readdirSync(join(root, 'data/builds')).filter((name) => name !== 'installed')

it('A project is built by the server, twice, and refused where it is wrong.', async () => {
  const first = await deploy('--message', 'First')
  expect([first.status, first.stderr]).toEqual([0, ''])
  expect(first.last).toMatchObject({ result: 'active', deployment: 'shop', revision: 'r1' })
  expect(first.step('upload')!['sent_bytes']).toBeLessThan(100_000)
  expect(first.said).toContainEqual(expect.stringMatching(/^added \d+ packages/))
  expect(existsSync(join(shop, 'node_modules'))).toBe(false)
  expect(await answer('shop')).toMatch(/Paris/)

  expect((await deploy()).last).toMatchObject({ result: 'unchanged', revision: 'r1' })
  change('"second"')
  const second = await deploy()
  expect(second.last).toMatchObject({ result: 'active', revision: 'r3' })
  expect(second.said[0]).toMatch(/^The packages are those of an earlier build/)
  console.log(`build ${String(first.step('build')!['ms'])} ms, with the same lock file ` +
    `${String(second.step('build')!['ms'])} ms`)
  expect(await answer('shop')).toBe('second')

  const { stdout } = await inShop('logs', '--build', 'r1')
  expect(stdout).toMatch(/ info {2}added \d+ packages/)

  writeFileSync(join(shop, 'src/agent.ts'), 'export const agent =')
  expect(await deploy()).toMatchObject({ status: 3,
    stderr: expect.stringMatching(/^heddle: src\/agent\.ts:1:\d+: /) })
  change('"second"')
  const lock = readFileSync(join(shop, 'package-lock.json'), 'utf8')
  writeFileSync(join(shop, 'package-lock.json'), lock.replace(/"version": "/, '"version": "9.'))
  writeFileSync(join(shop, 'package.json'), readFileSync(join(shop, 'package.json'), 'utf8')
    .replace('"dependencies":{', '"dependencies":{"left-pad":"1.3.0",'))
  const stale = await deploy()
  expect([stale.status, stale.stderr]).toEqual([3,
    expect.stringMatching(/^heddle: npm ci could not install the packages/)])
  writeFileSync(join(shop, 'package-lock.json'), lock)
  writeFileSync(join(shop, 'package.json'), readFileSync(join(shop, 'package.json'), 'utf8')
    .replace('"left-pad":"1.3.0",', ''))
  expect(left()).toEqual([])
  expect(await answer('shop')).toBe('second')
})

it('A server that dies in the middle of a build refuses the revision later.', async () => {
  rmSync(join(root, 'data/builds/installed'), { recursive: true, force: true })
  const deploying = deploy()
  await expect.poll(left).toHaveLength(1)
  await server.kill('SIGKILL')
  await deploying
  await server.restart()
  await expect.poll(async () => (await inShop('revisions', '--json')).stdout)
    .toMatch(/The server that built it ended in the middle/)
  expect(left()).toEqual([])
})

const builtBy = async (revision: string) =>
  (await inShop('logs', 'official', '--build', revision)).stdout

it('The command line of the ecosystem deploys, and deploys again.', async () => {
  change('process.env.SHOP_COLOUR')
  writeFileSync(join(shop, '.env'), 'SHOP_COLOUR=red\nLANGSMITH_API_KEY=never\n')
  const first = await deployOfficially()
  expect([first.status, first.said]).toEqual([0, expect.stringContaining('Deployment successful!')])
  expect(first.said).toContain(`${server.url}/d/official`)
  // What it prints of a build is what it happens to ask for in time.
  expect(await builtBy('r1')).toMatch(/added \d+ packages|earlier build/)
  expect(await answer('official')).toBe('red')

  change('process.env.SHOP_COLOUR + "!"')
  writeFileSync(join(shop, '.env'), 'SHOP_COLOUR=blue\n')
  const begin = performance.now()
  const second = await deployOfficially()
  console.log(`the command line of the ecosystem: ${Math.round(performance.now() - begin)} ms`)
  expect([second.status, second.said])
    .toEqual([0, expect.stringContaining('Deployment successful!')])
  expect(await builtBy('r2')).toContain('earlier build')
  expect(await answer('official')).toBe('blue!')

  writeFileSync(join(shop, 'src/agent.ts'), 'export const agent =')
  const bad = await deployOfficially()
  expect(bad.status).toBe(1)
  expect(await answer('official')).toBe('blue!')
  expect((await deployOfficially('--install-command', 'make')).said)
    .toContain('No commands are run here')
})
