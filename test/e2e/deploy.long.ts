/** A project is deployed to a server that runs, changed, refused and taken back. */

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { runNewCommand } from '../../src/cli/new-command.ts'
import { heddleProcessIn } from '../support/command.ts'
import { runIn } from '../support/project-command.ts'
import { say, texts } from '../support/run-events.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'

const house = resolve(import.meta.dirname, '../..')
let root: string
let shop: string
let server: ServerProcess

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'heddle-deploy-'))
  shop = join(root, 'shop')
  expect(await runIn(root, runNewCommand, shop)).toMatchObject({ status: 0, stderr: '' })
  writeFileSync(join(shop, 'package-lock.json'), '{}')
  await install(join(shop, 'package.json'))
  server = await startServer({ args: oneWorker,
    env: { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' } })
})

afterAll(async () => {
  await server?.close()
  rmSync(root, { recursive: true, force: true })
})

interface Package {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const packageOf = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Package

/** Links the files of the packages that are installed here, so that no registry is asked. */
async function install(file: string): Promise<void> {
  const names = new Set(Object.keys(packageOf(file).dependencies ?? {}))
  for (const name of names) {
    const from = join(house, 'node_modules', name)
    if (!existsSync(join(from, 'package.json'))) continue
    const { dependencies, peerDependencies } = packageOf(join(from, 'package.json'))
    for (const each of Object.keys({ ...dependencies, ...peerDependencies })) names.add(each)
    const to = join(shop, 'node_modules', name)
    mkdirSync(dirname(to), { recursive: true })
    await promisify(execFile)('cp', ['-al', from, to])
  }
}

/** Runs a command in the folder of the project, which finds the server by its data directory. */
const inShop = (...args: readonly string[]) =>
  heddleProcessIn({ INIT_CWD: shop, npm_lifecycle_event: 'heddle',
    HEDDLE_DATA_DIR: server.dataDir }, ...args)

/** Deploys. Resolves with the steps, by name. */
async function deploy(...args: readonly string[]) {
  const ended = await inShop('deploy', '--json', ...args)
  const lines = ended.stdout.trim().split('\n').filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  const step = (name: string) => lines.find((line) => line['step'] === name)
  return { ...ended, step, last: lines.at(-1) }
}

/** An answer of the deployment's agent, on a thread of its own. */
async function answer(): Promise<string | undefined> {
  const { runs, threads } = clientOf(`${server.url}/d/shop`)
  const { thread_id: id } = await threads.create()
  return texts(await runs.wait(id, 'agent', { input: say('weather in Paris?') })).at(-1)
}

const echo = (text: string) =>
  `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
export const agent = new StateGraph(MessagesAnnotation)
  .addNode('reply', () => ({ messages: [{ role: 'ai', content: ${JSON.stringify(text)} }] }))
  .addEdge('__start__', 'reply').compile()
`
const change = (text: string) => writeFileSync(join(shop, 'src/agent.ts'), text)

it('A project is deployed, changed, refused and taken back.', async () => {
  const first = await deploy('--message', 'First')
  expect([first.status, first.stderr]).toEqual([0, ''])
  expect(first.last).toMatchObject({ result: 'active', deployment: 'shop', revision: 'r1' })
  expect(await answer()).toMatch(/Paris/)

  expect(await deploy()).toMatchObject({ status: 0, last: { result: 'unchanged' } })

  change(echo('second'))
  const second = await deploy('--message', 'Second')
  expect(second).toMatchObject({ status: 0, last: { result: 'active', revision: 'r2' } })
  expect(second.step('upload')).toMatchObject({ sent_chunks: 1 })
  expect(second.step('upload')!['sent_bytes']).toBeLessThanOrEqual(20_000)
  expect(await answer()).toBe('second')

  change('throw new Error("not today")\nexport const agent = 1')
  const bad = await deploy('--message', 'Bad')
  expect([bad.status, bad.stderr]).toEqual([3, expect.stringMatching(
    /^heddle: The graph "agent" cannot be loaded: .*not today/,
  )])
  expect(await answer()).toBe('second')

  const back = await inShop('rollback')
  expect([back.status, back.stdout]).toEqual([0,
    expect.stringMatching(/^active r1 \(was r2\), 1 of 1 member, \d+\.\d s/)])
  expect(await answer()).toMatch(/Paris/)

  const { stdout } = await inShop('revisions')
  expect(stdout).toMatch(/\nr3 +refused .* Bad\nr2 .* Second\nr1 +active .* First\n$/)
  expect((await inShop('logs')).status).toBe(0)
})

it('Who follows the lines of a deployment gets each soon after it was written.', async () => {
  change(echo('third').replace('() => ({', '() => (console.log(`at ${Date.now()}`), {'))
  expect((await deploy()).status).toBe(0)
  const { body } = await fetch(`${server.url}/control/v1/deployments/shop/logs?follow=true`)
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
  let waitedMs = 0
  for (let count = 1; count <= 5; count++) {
    await answer()
    const answeredMs = performance.now()
    for (let text = ''; !text.includes('at ');) text = (await reader.read()).value!
    waitedMs += performance.now() - answeredMs
  }
  await reader.cancel()
  // Nobody waits for looks, which are 5 s apart.
  expect(waitedMs).toBeLessThan(2 * 5_000)
})

it('The client in a deployed graph reaches its deployment, by each of its addresses.', async () => {
  change(`import { Client } from '@langchain/langgraph-sdk'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
const client = new Client()
export const agent = new StateGraph(MessagesAnnotation)
  .addNode('reply', async () => {
    const { LANGGRAPH_API_URL: apiUrl, PORT: port } = process.env
    const clients = [client, new Client({ apiUrl }), new Client({ apiUrl:
      \`http://localhost:\${port}\` })]
    const made = await Promise.all(clients.map(({ threads }) => threads.create()))
    return { messages: [{ role: 'ai', content: made.map((each) => each.thread_id).join(' ') }] }
  })
  .addEdge('__start__', 'reply').compile()
`)
  expect((await deploy()).status).toBe(0)
  const own = clientOf(server.url).threads
  const before = await own.count()
  const ids = (await answer())!.split(' ')
  expect(ids).toHaveLength(3)
  const { threads } = clientOf(`${server.url}/d/shop`)
  for (const id of ids) expect(await threads.get(id)).toMatchObject({ thread_id: id })
  expect(await own.count()).toBe(before)
})
