/** Bad revisions get their documented errors, and the active one serves on. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { graphProcesses } from '../../support/graph-processes.ts'
import { openKeyMaker } from '../../support/keys.ts'
import { isNight } from '../../support/repeats.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { badArchives, tarOf } from './bad-archives.ts'
import { deployedProject, replying, withOwnFiles } from './deployed-project.ts'
import type { Built, DeployedProject } from './deployed-project.ts'
import { DeployTarget } from './deploy-target.ts'

let project: DeployedProject
let server: ServerProcess
let shop: DeployTarget
let good: Built

beforeAll(async () => {
  ;[project, server] = await Promise.all([deployedProject(), startServer({ args: oneWorker })])
  shop = new DeployTarget(server.url, 'shop')
  expect(await shop.create({ limits: { memory_mb: 320, workers: 1 } }))
    .toMatchObject({ status: 201 })
  good = await project.built(replying("return say('good')"))
  await shop.deploy(good)
})

afterAll(async () => {
  await server?.close()
  await project?.remove()
})

/** What is on disk of all revisions. */
function onDisk(): readonly string[] {
  const folder = join(server.dataDir, 'revisions')
  return readdirSync(folder).filter((name) => name !== 'compiled').flatMap((name) =>
    name.endsWith('.json') ? [name] : readdirSync(join(folder, name))
  ).filter((name) => /^[0-9a-f]{64}/.test(name)).toSorted()
}

it('What is no archive of a tree is refused, and nothing of it stays.', async () => {
  const before = onDisk()
  for (const [name, { built, says }] of Object.entries(badArchives(good))) {
    const revision = await shop.upload(built)
    const { status, body } = await shop.activate(revision.name)
    expect([name, status, body['error']]).toEqual([name, 422, 'graph_failed'])
    expect([name, body['message']]).toEqual([name, expect.stringMatching(says)])
    expect((await shop.own('GET', `/revisions/${revision.name}`)).body)
      .toMatchObject({ state: 'refused', reason: expect.stringMatching(says) as string })
    expect(await shop.answer()).toBe('good')
    expect(onDisk()).toEqual(before)
    expect(await shop.own('DELETE', `/revisions/${revision.name}`)).toMatchObject({ status: 200 })
    // Its chunk is not there any more, and those of the active revision are.
    const again = await shop.begin(built)
    expect(again.missing).toHaveLength(1)
    await shop.own('DELETE', `/revisions/${again.name}`)
  }
})

it.runIf(isNight)('Code that cannot be loaded is refused with its place.', async () => {
  const own = (agent: string) => {
    const tar = tarOf({ 'agent.ts': agent, 'package.json': '{"type": "module"}',
      'langgraph.json': '{"graphs": {"agent": "./agent.ts:agent"}}' })
    return withOwnFiles(good, tar, { files: 3 })
  }
  const cases: Readonly<Record<string, readonly [agent: string, says: RegExp]>> = {
    'a syntax error': ['export const agent = {', /agent\.ts:1:\d+/],
    'throws at import': ['\nthrow new Error("not today")', /agent\.ts:2:7.*not today/],
    'exits at import': ['process.exit(3)', /ended with code 3 .* graph "agent"/],
  }
  for (const [name, [agent, says]] of Object.entries(cases)) {
    const revision = await shop.upload(own(agent))
    const { status, body } = await shop.activate(revision.name)
    expect([name, status, body['error']]).toEqual([name, 422, 'graph_failed'])
    expect([name, body['message']]).toEqual([name, expect.stringMatching(says)])
    expect(await shop.answer()).toBe('good')
  }
  const filling = await shop.upload(
    own('const all = []; for (;;) all.push(new Array(1e5).fill(all.length))'),
  )
  expect(await shop.activate(filling.name, { prepare_s: 30 })).toMatchObject({ status: 409,
    body: { error: 'not_ready', message: expect.stringMatching(/within 30 s.*memory/) as string } })
  const spinning = await shop.upload(own('for (;;);'))
  expect(await shop.activate(spinning.name, { prepare_s: 5 })).toMatchObject({ status: 409,
    body: { error: 'not_ready', message: expect.stringMatching(/within 5 s/) as string } })
  expect(await shop.answer()).toBe('good')
  expect(await shop.show()).toMatchObject({ active: 'r1', rollout: null })
  // Nobody waits for it any more: it does not go on spinning.
  await expect.poll(() => graphProcesses(server).length, { timeout: 15_000 }).toBe(1)
})

it('A crash loop is rolled back by the watch.', async () => {
  const dying = await project.built(replying("process.kill(process.pid, 'SIGKILL')"))
  const name = await shop.deploy(dying, { watch_s: 600 })
  expect(await shop.show()).toMatchObject({ active: name, rollout: { phase: 'watching' } })
  const { runs, threads } = shop.client
  // One after another: all that a process executes when it dies are suspects together.
  for (const text of ['a', 'b', 'c']) {
    const { thread_id: id } = await threads.create()
    const { run_id: runId } = await runs.create(id, 'agent', { input: say(text) })
    await expect.poll(async () => (await runs.get(id, runId)).status).toBe('error')
  }
  await expect.poll(() => shop.show()).toMatchObject({ active: 'r1', rollout: null,
    last_rollout: { result: 'rolled_back', reason: expect.stringMatching(/died/) as string } })
  expect(await shop.answer()).toBe('good')
})

it('Names that are taken, are no labels or are not yours are refused, and so are other roles.',
  async () => {
    expect(await shop.create()).toMatchObject({ status: 409, body: { error: 'exists' } })
    for (const name of ['Shop', '-a', 'a-', 'a.b', 'x'.repeat(64)]) {
      expect(await new DeployTarget(server.url, name).create())
        .toMatchObject({ status: 422, body: { error: 'invalid' } })
    }
    expect(await shop.own('GET', '/revisions/r99')).toMatchObject({ status: 404 })
    const removed = await shop.begin(withOwnFiles(good, tarOf({ 'removed.ts': '' })))
    await shop.own('DELETE', `/revisions/${removed.name}`)
    expect(await shop.activate(removed.name)).toMatchObject({ status: 409,
      body: { error: 'not_ready', message: expect.stringContaining('removed') as string } })

    const guarded = await startServer({ args: [...oneWorker, '--auth', 'keys', '--trust-tenants'] })
    try {
      const maker = await openKeyMaker(guarded)
      const as = async (tenant: string, role: 'admin' | 'deployer' | 'developer') =>
        new DeployTarget(guarded.url, 'shop', { 'x-api-key': await maker.make(tenant, role) })
      const [own, other, weak] = [await as('acme', 'deployer'), await as('other', 'admin'),
        await as('acme', 'developer')]
      expect(await own.create()).toMatchObject({ status: 201 })
      expect(await other.create()).toMatchObject({ status: 409, body: { error: 'exists' } })
      const { name } = await own.begin(good)
      const [sha256, data] = [...good.chunks][0]!
      const path = `/revisions/${name}/chunks/${sha256}`
      expect(await other.own('PUT', path, data)).toMatchObject({ status: 404 })
      expect(await weak.own('PUT', path, data)).toMatchObject({ status: 403 })
      expect(await own.own('PUT', path, Buffer.from('else'))).toMatchObject({ status: 422 })
      expect(await own.own('PUT', path, data)).toMatchObject({ status: 204 })
      expect(await new DeployTarget(guarded.url, 'shop').own('GET')).toMatchObject({ status: 401 })
      await maker.close()
    } finally {
      await guarded.close()
    }
  })

it('No deployment is created where its code could pose as a proxy of users.', async () => {
  const posed = await startServer({
    args: [...oneWorker, '--auth', 'keys', '--user-proxies', '127.0.0.1'],
  })
  try {
    const maker = await openKeyMaker(posed)
    const headers = { 'x-api-key': await maker.make('acme', 'admin') }
    expect(await new DeployTarget(posed.url, 'shop', headers).create()).toMatchObject({ status: 403,
      body: {
        message: expect.stringContaining('--user-proxies includes 127.0.0.1/32') as string,
      } })
    expect(posed.output()).toContain('No deployment can be created')
    await maker.close()
  } finally {
    await posed.close()
  }
})
