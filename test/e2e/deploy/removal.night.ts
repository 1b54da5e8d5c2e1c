/** A deployment with callers of two tenants, a preview and a trial run is removed with its data. */

import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { runNewCommand } from '../../../src/cli/new-command.ts'
import { heddleProcessIn } from '../../support/command.ts'
import { openKeyMaker } from '../../support/keys.ts'
import type { KeyMaker } from '../../support/keys.ts'
import { linkPackages } from '../../support/linked-packages.ts'
import { runIn } from '../../support/project-command.ts'
import { say, texts } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'

let root: string
let shop: string
let server: ServerProcess
let keys: KeyMaker
let admin: string

/** The agent answers with its secret. The trial run, if there is one, expects this text. */
function writeProject(expected?: string): void {
  const check = expected !== undefined &&
    {
      check: { graph: 'agent', input: say('on trial'),
        expect: { messages: [{ type: 'ai', content: expected }] } },
    }
  writeFileSync(join(shop, 'langgraph.json'), JSON.stringify({
    graphs: { agent: './src/agent.ts:agent' },
    heddle: { ...check },
  }))
  writeFileSync(join(shop, 'src/agent.ts'),
    `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
export const agent = new StateGraph(MessagesAnnotation)
  .addNode('reply', () => ({ messages: [{ role: 'ai', content: 'with ' + process.env.CODE }] }))
  .addEdge('__start__', 'reply').compile()
`)
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'heddle-removal-'))
  shop = join(root, 'shop')
  expect(await runIn(root, runNewCommand, shop)).toMatchObject({ status: 0, stderr: '' })
  writeFileSync(join(shop, 'package-lock.json'), '{}')
  writeFileSync(join(root, 'shop.env'), 'CODE=four')
  await linkPackages(shop, shop)
  writeProject('with four')
  server = await startServer({ args: [...oneWorker, '--auth', 'keys'] })
  keys = await openKeyMaker(server)
  admin = await keys.make('acme', 'admin')
})

afterAll(async () => {
  await keys?.close()
  await server?.close()
  rmSync(root, { recursive: true, force: true })
})

const inShop = (...args: readonly string[]) =>
  heddleProcessIn({ INIT_CWD: shop, npm_lifecycle_event: 'heddle', HEDDLE_URL: server.url,
    HEDDLE_API_KEY: admin }, ...args)

const clientAt = (path: string, apiKey: string) =>
  new Client({ apiUrl: `${server.url}${path}`, apiKey, callerOptions: { maxRetries: 0 } })

const status = async (path: string, key: string) =>
  (await fetch(`${server.url}${path}`, { headers: { 'x-api-key': key } })).status

async function talk(client: Client): Promise<string | undefined> {
  const { thread_id: id } = await client.threads.create()
  return texts(await client.runs.wait(id, 'agent', { input: say('hello') })).at(-1)
}

async function projectsAt(path: string, key: string): Promise<number> {
  const answer = await fetch(`${server.url}${path}/api/v1/sessions`, {
    headers: { 'x-api-key': key },
  })
  return (await answer.json() as unknown[]).length
}

it('A deployment is tried, previewed, called by others, and removed with all data.', async () => {
  const first = await inShop('deploy', '--env-file', join(root, 'shop.env'), '--no-watch')
  expect([first.status, first.stderr]).toEqual([0, expect.any(String)])
  const own = clientAt('/d/shop', admin)
  expect(await talk(own)).toBe('with four')
  // Nothing is left of the trial run.
  expect(await own.threads.search()).toHaveLength(1)

  writeProject('with five')
  const bad = await inShop('deploy', '--no-watch')
  expect([bad.status, bad.stderr]).toEqual([3,
    expect.stringMatching(/The trial run of "agent" ended without .*with five.*with four/)])
  expect((await inShop('deployments', 'show')).stdout).toMatch(/active +r1\n/)

  writeProject('with four')
  const preview = await inShop('deploy', '--preview', 'fix', '--no-watch')
  expect([preview.status, preview.stderr]).toEqual([0, expect.not.stringMatching(/CODE/)])
  expect(await talk(clientAt('/d/shop--fix', admin))).toBe('with four')
  expect((await inShop('deployments')).stdout).toMatch(/\nshop--fix +r1 +preview of shop/)
  expect((await inShop('deployments', 'show', 'shop--fix')).stdout).toMatch(/workers=1 /)

  const { key: bound } = await keys.keyAdmin.create({ tenant: 'acme', role: 'developer',
    name: 'bound', deployment: 'shop', expiresInMs: null })
  expect(await talk(clientAt('/d/shop', bound))).toBe('with four')
  for (const [path, code] of [['/runs', 403], ['/d/shop--fix/assistants/agent', 404], [
    '/control/v1/deployments',
    403,
  ], ['/assistants/agent', 403]] as const) {
    expect([path, await status(path, bound)]).toEqual([path, code])
  }

  const other = await keys.make('other')
  expect(await status('/d/shop/assistants/agent', other)).toBe(404)
  expect((await inShop('deployments', 'set', 'shop', 'access=any')).status).toBe(0)
  const others = clientAt('/d/shop', other)
  expect(await talk(others)).toBe('with four')
  await others.store.putItem(['notes'], 'one', { text: 'of another' })
  await own.store.putItem(['notes'], 'one', { text: 'own' })
  await own.assistants.create({ graphId: 'agent', name: 'Mine' })
  await own.crons.create('agent', { schedule: '0 0 1 1 *', input: say('later') })
  await own.runs.wait(null, 'agent', { input: say('stateless') })
  await expect.poll(() => projectsAt('/d/shop', admin)).toBe(1)

  const doctor = await heddleProcessIn({}, 'doctor', '--deep', '--data', server.dataDir)
  expect(doctor.stdout).toMatch(/\nok +revisions +All bytes of 3 revisions are true\.\n/)

  const refused = await inShop('deployments', 'remove', 'shop')
  expect([refused.status, refused.stderr]).toEqual([3, expect.stringContaining('data')])
  expect((await inShop('deployments', 'remove', 'shop', '--data', '--yes')).status).toBe(0)
  expect(await status('/d/shop/assistants/agent', admin)).toBe(404)
  // It goes on after the member died.
  await server.kill('SIGKILL')
  await server.restart()
  const again = async () =>
    (await fetch(`${server.url}/control/v1/deployments`, { method: 'POST', body: '{"name":"shop"}',
      headers: { 'x-api-key': admin, 'content-type': 'application/json' } })).status
  await expect.poll(again, { timeout: 150_000, interval: 1_000 }).toBe(201)

  writeProject()
  expect((await inShop('deploy', '--env-file', join(root, 'shop.env'), '--no-watch')).status)
    .toBe(0)
  expect((await inShop('deployments', 'set', 'shop', 'access=any')).status).toBe(0)
  for (const client of [own, others]) {
    expect(await client.threads.search()).toEqual([])
    expect((await client.store.searchItems(['notes'])).items).toEqual([])
    expect(await client.crons.search()).toEqual([])
    expect((await client.assistants.search()).map(({ name }) => name)).not.toContain('Mine')
  }
  expect(await projectsAt('/d/shop', admin)).toBe(0)
  expect(await clientAt('/d/shop--fix', admin).threads.search()).toHaveLength(1)
}, 400_000)
