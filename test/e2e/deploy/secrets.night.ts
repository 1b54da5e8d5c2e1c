/** Code and secrets are one version: what cannot be loaded changes nothing, also over a restart. */

import { afterAll, beforeAll, expect, it } from 'vitest'

import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { deployedProject, replying } from './deployed-project.ts'
import type { DeployedProject } from './deployed-project.ts'
import { DeployTarget } from './deploy-target.ts'

let project: DeployedProject
let server: ServerProcess
let shop: DeployTarget

beforeAll(async () => {
  ;[project, server] = await Promise.all([deployedProject(), startServer({ args: oneWorker })])
  shop = new DeployTarget(server.url, 'shop')
  expect(await shop.create({ limits: { workers: 1 } })).toMatchObject({ status: 201 })
})

afterAll(async () => {
  await server?.close()
  await project?.remove()
})

const guarded = replying('return say(`token ${process.env.TOKEN}`)', `
if (process.env.TOKEN === 'no-good') throw new Error('TOKEN is no token')
if (Date.now() > Number(process.env.UNTIL ?? 1e15)) throw new Error('UNTIL is over')
`)

const set = (values: object, more: object = {}) => shop.own('PUT', '/secrets', { values, ...more })
const listed = async () => (await shop.own('GET', '/secrets')).body['secrets']
const logs = async () =>
  await (await fetch(`${server.url}/control/v1/deployments/shop/logs`)).text()

async function restarted(): Promise<void> {
  await server.kill('SIGKILL')
  await server.restart()
}

it('Secrets are kept until the first revision, and refused with it.', async () => {
  expect(await set({ TOKEN: 'no-good' })).toMatchObject({ status: 200, body: { rollout: null } })
  const built = await project.built(guarded)
  const refused = await shop.upload(built)
  expect(await shop.activate(refused.name)).toMatchObject({ status: 422,
    body: { message: expect.stringContaining('TOKEN is no token') as string } })
  expect(await set({ TOKEN: 'good' })).toMatchObject({ status: 200, body: { rollout: null } })
  expect(await shop.deploy(built)).toBe('r2')
  expect([await shop.answer(), await listed()])
    .toMatchObject(['token good', [{ name: 'TOKEN', version: 2, state: 'in_use' }]])
})

it('A secret that the code cannot live with changes nothing, also over a restart.', async () => {
  expect(await set({ TOKEN: 'no-good', OTHER: 'x' })).toMatchObject({ status: 422,
    body: { error: 'graph_failed',
      message: expect.stringContaining('TOKEN is no token') as string } })
  expect([await shop.answer(), await listed()])
    .toMatchObject(['token good', [{ name: 'TOKEN', version: 2 }]])
  await restarted()
  expect([await shop.answer(), await listed()])
    .toMatchObject(['token good', [{ name: 'TOKEN', version: 2 }]])
  // The log says why, also after the restart.
  expect(await logs()).toContain('TOKEN is no token')
  expect(await set({ TOKEN: 'better' })).toMatchObject({ status: 200,
    body: { rollout: { result: 'done' } } })
  expect(await shop.answer()).toBe('token better')
})

it('Kept secrets are loaded with the next revision, and a rollback leaves them.', async () => {
  expect(await set({ TOKEN: 'newest' }, { restart: false })).toMatchObject({ status: 200,
    body: { rollout: null } })
  expect(await shop.answer()).toBe('token better')
  await restarted()
  expect(await shop.answer()).toBe('token better')
  await shop.deploy(await project.built(`${guarded}// changed\n`))
  expect(await shop.answer()).toBe('token newest')
  expect(await set({ TOKEN: 'no-good' }, { restart: false })).toMatchObject({ status: 200 })
  expect(await shop.own('POST', '/rollback', {})).toMatchObject({ status: 200,
    body: { active: 'r2', kept_secrets: ['TOKEN'] } })
  expect(await shop.answer()).toBe('token newest')
  expect(await shop.own('DELETE', '/secrets/TOKEN?restart=false')).toMatchObject({ status: 200 })
  expect(await set({ TOKEN: 'newest' })).toMatchObject({ status: 200 })
})

it('A deployment that cannot serve any more says so everywhere.', async () => {
  const untilMs = Date.now() + 30_000
  expect(await set({ UNTIL: `${untilMs}` })).toMatchObject({ status: 200 })
  expect(await shop.answer()).toBe('token newest')
  await expect.poll(() => Date.now() > untilMs, { timeout: 40_000 }).toBe(true)
  await restarted()
  const health = async () => await (await fetch(`${server.url}/ok?check_db=1`)).json() as object
  expect(await health()).not.toHaveProperty('deployments')
  const { threads, runs } = shop.client
  const { thread_id: id } = await threads.create()
  const wait = () => runs.wait(id, 'agent', { input: say('hello') })
  await expect(wait()).rejects.toThrow('UNTIL is over')
  await expect(wait()).rejects.toThrow(/422.*cannot serve: .*UNTIL is over/)
  expect(await shop.show()).toMatchObject({ active: 'r2',
    problems: [{ revision: 'r2', serves_some: false,
      reason: expect.stringContaining('UNTIL is over') as string }] })
  expect(await health()).toMatchObject({ ok: true, deployments: { names: ['shop'] } })
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(metrics).toContain('heddle_deployments_not_serving 1\n')
  expect(await shop.own('DELETE', '/secrets/UNTIL')).toMatchObject({ status: 200 })
  expect(await shop.answer()).toBe('token newest')
  expect(await shop.show()).toMatchObject({ problems: [] })
})
