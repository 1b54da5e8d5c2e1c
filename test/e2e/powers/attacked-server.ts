/** A server of two tenants, and a deployment whose code is hostile. */

import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { vi } from 'vitest'

import type { ControlReplay, ControlVerdict } from '../../../src/api/index.ts'
import { eventually } from '../../support/eventually.ts'
import { openKeyMaker } from '../../support/keys.ts'
import type { KeyMaker } from '../../support/keys.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { deployedProject } from '../deploy/deployed-project.ts'
import type { Built } from '../deploy/deployed-project.ts'
import { DeployTarget } from '../deploy/deploy-target.ts'
import type { Target } from './attacks.ts'

/** How the server is started. */
export interface ServerKind {
  /** User of the system; by default that of the test. */
  readonly user?: number
  readonly args?: readonly string[]
}

/** The server under attack. Every result starts with `open` if the attack has succeeded. */
export interface AttackedServer {
  readonly server: ServerProcess
  readonly maker: KeyMaker
  readonly target: Target
  /** Programs of the machine that got a connection. */
  readonly reached: readonly string[]
  /** Executes code in a run. */
  inGraph(code: string): Promise<string | undefined>
  /** Executes code in the app of the deployment. */
  inApp(code: string): Promise<string>
  /** Executes codes in replays, and returns the results in their order. */
  inReplays(codes: readonly string[]): Promise<readonly string[]>
  close(): Promise<void>
}

/** Milliseconds for a replay on a busy machine. */
const replayMs = 300_000

/**
 * The agent and the app: the first revision does nothing that it is asked to do. A run without a
 * call is not recorded.
 */
const code = (isHostile: boolean, calledPort: number) => `
import { createRequire } from 'node:module'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
const require = createRequire(import.meta.url)
const tried = async (code) => {
  if (!${isHostile}) return 'refused'
  try { return 'open: ' + await eval(code) } catch { return 'refused' }
}
export const agent = new StateGraph(MessagesAnnotation)
  .addNode('reply', async ({ messages }) => {
    await fetch('http://127.0.0.1:${calledPort}/').then((response) => response.text())
    return { messages: [{ role: 'ai', content: await tried(messages.at(-1).content) }] }
  })
  .addEdge('__start__', 'reply').compile()
export const app = { fetch: async (request) => new Response(await tried(await request.text())) }
`

/** Starts a server, and deploys the code. */
export async function attackedServer({ user, args = [] }: ServerKind): Promise<AttackedServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'heddle-powers-'))
  chmodSync(dataDir, 0o755)
  if (user !== undefined) chownSync(dataDir, user, user)
  const [project, server] = await Promise.all([
    deployedProject({
      'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:agent' },
        http: { app: './agent.ts:app' }, heddle: { record: 'all' } }),
    }),
    startServer({ dataDir, args: [...oneWorker, '--auth', 'keys', ...args],
      env: { HOME: dataDir, HEDDLE_CANARY: 'a secret of the server' },
      ...user !== undefined && { user } }),
  ])
  const maker = await openKeyMaker(server)
  const headers = { 'x-api-key': await maker.make('acme', 'admin') }
  const other = clientOf(server.url, { 'x-api-key': await maker.make('other') })
  const { thread_id: otherThread } = await other.threads.create()
  const reached: string[] = []
  const foreign = await foreignPrograms(dataDir, (name) => reached.push(name))
  const called = createHttpServer((_, response) => response.end('called')).listen(0, '127.0.0.1')
  await once(called, 'listening')
  const { port: calledPort } = called.address() as AddressInfo
  const shop = new DeployTarget(server.url, 'shop', headers)
  await shop.create({ limits: { memory_mb: 400, workers: 1 } })
  await shop.own('PUT', '/secrets/TOKEN', { value: 'a value', restart: false })
  await shop.deploy(await project.built(code(false, calledPort)), { watch_s: 0, prepare_s: 600 })
  const hostile = lazily(async () =>
    deployHostile(shop, await project.built(code(true, calledPort)))
  )
  return {
    server,
    maker,
    reached,
    target: { dataDir, pid: server.pid, port: Number(new URL(server.url).port), otherThread,
      ...foreign.places },
    inGraph: async (text) => {
      await hostile.active()
      return await shop.answer(text)
    },
    inApp: async (text) => {
      await hostile.active()
      const response = await fetch(`${server.url}/d/shop/attack`, { method: 'POST', headers,
        body: text })
      return `${response.ok ? '' : response.status} ${await response.text()}`.trim()
    },
    inReplays: async (texts) => await replayed(shop, headers, await hostile.name(), texts),
    close: async () => {
      await maker.close()
      await server.close()
      await project.remove()
      for (const each of [...foreign.servers, called]) each.close()
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

interface Hostile {
  readonly name: string
  activate(): Promise<unknown>
}

/** Uploads the hostile revision once, and activates it when it is first needed. */
function lazily(deploy: () => Promise<Hostile>) {
  let uploaded: Promise<Hostile> | undefined
  let activated: Promise<unknown> | undefined
  const hostile = () => uploaded ??= deploy()
  return {
    name: async () => (await hostile()).name,
    active: () => activated ??= hostile().then((each) => each.activate()),
  }
}

async function deployHostile(shop: DeployTarget, built: Built): Promise<Hostile> {
  const { name } = await shop.upload(built)
  const checked = await shop.own('POST', `/revisions/${name}/check`)
  if (checked.status !== 200) throw new Error(JSON.stringify(checked.body))
  return { name, activate: async () => {
    const { status, body } = await shop.activate(name, { watch_s: 0, prepare_s: 600 })
    if (status !== 200) throw new Error(JSON.stringify(body))
  } }
}

/** Records runs that do nothing, and replays them on a revision that executes their input. */
async function replayed(shop: DeployTarget, headers: Readonly<Record<string, string>>,
  revision: string, texts: readonly string[]): Promise<readonly string[]> {
  const runIds: string[] = []
  for (const text of texts) runIds.push(await recorded(shop, headers, text))
  const { status, body } = await shop.own('POST', '/replays', { revision, sample: texts.length })
  if (status !== 202) throw new Error(JSON.stringify(body))
  const { id } = (body as unknown as ControlReplay).replay
  await vi.waitFor(async () => {
    const seen = (await shop.own('GET', `/replays/${id}`)).body as unknown as ControlReplay
    if (seen.replay.phase === 'running') throw new Error(`${seen.done} are done`)
  }, { timeout: replayMs, interval: 50 })
  const page = await shop.own('GET', `/replays/${id}/runs`)
  const verdicts = page.body['runs'] as readonly ControlVerdict[]
  return runIds.map((runId) => {
    const found = verdicts.find((each) => each.run_id === runId)
    return found === undefined ? 'no verdict' : resultOf(found)
  })
}

/** A run that comes out as recorded was refused, as was one that was stopped at a connection. */
function resultOf({ verdict, reason }: ControlVerdict): string {
  if (verdict === 'same' || verdict === 'same_result') return 'refused'
  return /^It connects to |^(New|Other) call/.test(reason ?? '') ? 'refused' : `open: ${reason}`
}

async function recorded(shop: DeployTarget, headers: Readonly<Record<string, string>>,
  text: string): Promise<string> {
  const { runs, threads } = shop.client
  const { thread_id: threadId } = await threads.create()
  await runs.wait(threadId, 'agent', { input: say(text) })
  const [{ run_id: runId = '' } = {}] = await runs.list(threadId)
  await eventually(async () => {
    const calls = await fetch(`${shop.url}/d/shop/threads/${threadId}/runs/${runId}/calls`, {
      headers,
    })
    const { is_recorded: isRecorded } = await calls.json() as { is_recorded: boolean }
    if (!isRecorded) throw new Error('It is not recorded yet.')
  })
  return runId
}

/** Programs of the machine that trust everyone who can connect. */
async function foreignPrograms(folder: string, connected: (name: string) => void) {
  const foreignSocket = join(folder, 'foreign.sock')
  const listening = (name: string, place: string | number) =>
    new Promise<Server>((open) => {
      const server = createServer((socket) => {
        connected(name)
        socket.end()
      })
      if (typeof place === 'string') server.listen(place, () => open(server))
      else server.listen(place, '127.0.0.1', () => open(server))
    })
  const servers = [await listening('Unix socket', foreignSocket), await listening('TCP', 0)]
  chmodSync(foreignSocket, 0o777)
  const { port: foreignPort } = servers[1]!.address() as AddressInfo
  return { servers, places: { foreignSocket, foreignPort } }
}
