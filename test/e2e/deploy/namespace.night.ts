/** Crons, webhooks, items and delayed runs of a deployment stay in it, by its own settings. */

import { afterAll, beforeAll, expect, it } from 'vitest'

import { openReceiver } from '../../support/receiver.ts'
import type { Receiver } from '../../support/receiver.ts'
import { say, texts } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { deployedProject, replying } from './deployed-project.ts'
import type { DeployedProject } from './deployed-project.ts'
import { DeployTarget } from './deploy-target.ts'

let project: DeployedProject
let server: ServerProcess
let receiver: Receiver
let shop: DeployTarget
let cronThread: string

/** A langgraph.json with settings. */
const config = (more: object) => JSON.stringify({ graphs: { agent: './agent.ts:agent' }, ...more })

beforeAll(async () => {
  receiver = await openReceiver()
  ;[project, server] = await Promise.all([
    deployedProject({ 'langgraph.json': config({
      webhooks: { headers: { 'x-from': 'shop', 'x-token': '${{ env.LG_WEBHOOK_TOKEN }}' },
        url: { allowed_ports: [receiver.port] } },
      store: { ttl: { default_ttl: 0.02, refresh_on_read: false } },
      checkpointer: { ttl: { default_ttl: 0.05 } },
    }) }),
    startServer({ args: [...oneWorker, '--egress-allow', '127.0.0.1'],
      env: { LG_WEBHOOK_TOKEN: 'of the server' } }),
  ])
  shop = new DeployTarget(server.url, 'shop')
  expect(await shop.create()).toMatchObject({ status: 201 })
  await shop.own('PUT', '/secrets/LG_WEBHOOK_TOKEN', { value: 'of the shop' })
  await shop.deploy(await project.built(replying(`
    const text = String(state.messages.at(-1).content)
    await config.store.put(['seen'], text, { text })
    return say(text.toUpperCase())`)))
  const { crons, threads } = shop.client
  cronThread = (await threads.create({ ttl: 60 })).thread_id
  // It fires at the next minute: the other tests pass the time.
  await crons.createForThread(cronThread, 'agent', { schedule: '* * * * *', input: say('cron') })
})

afterAll(async () => {
  await server?.close()
  await receiver?.close()
  await project?.remove()
})

/** The server's own project, which must not see anything. */
const own = () => clientOf(server.url)

it('A webhook is called where the revision allows it, with its headers and secrets.', async () => {
  const { runs, threads } = shop.client
  const { thread_id: id } = await threads.create({ ttl: 60 })
  await runs.wait(id, 'agent', { input: say('webhook'), webhook: receiver.url })
  await receiver.arrived(1)
  expect(receiver.received[0]).toMatchObject({
    headers: { 'x-from': 'shop', 'x-token': 'of the shop' },
  })
  expect(receiver.received[0]!.body).toContain('WEBHOOK')
  await expect(runs.wait(id, 'agent', { input: say('no'), webhook: 'http://127.0.0.1:20000/' }))
    .rejects.toThrow(/must be at a port that the project names/)
  // That is not for the server's own project.
  const thread = await own().threads.create()
  await own().runs.wait(thread.thread_id, 'agent', { input: say('own'), webhook: receiver.url })
  await receiver.arrived(2)
  expect(receiver.received[1]!.headers).not.toHaveProperty('x-from')
})

it('Items and threads live as long as the revision says.', async () => {
  const { store, threads } = shop.client
  await store.putItem(['own'], 'key', { kept: true }, { ttl: 60 })
  await store.putItem(['usual'], 'key', { kept: false })
  await own().store.putItem(['usual'], 'key', { of: 'the server' })
  const { thread_id: id } = await threads.create()
  expect((await store.getItem(['own'], 'key'))?.value).toEqual({ kept: true })
  await expect.poll(() => store.getItem(['usual'], 'key')).toBeNull()
  await expect.poll(() => threads.get(id).then(() => 'there', () => 'gone')).toBe('gone')
  expect((await own().store.getItem(['usual'], 'key'))?.value).toEqual({ of: 'the server' })
  expect(await own().store.getItem(['own'], 'key')).toBeNull()
  expect((await own().store.searchItems(['seen'])).items).toEqual([])
})

it('An embedding of its own is refused with a sentence before anything is sent.', async () => {
  await project.write({ 'embed.ts': 'export const embed = () => []',
    'langgraph.json': config({ store: { index: { embed: './embed.ts:embed', dims: 3 } } }) })
  await expect(project.built()).rejects.toThrow(/^store\.index is not offered for deployments/)
})

it('Crons and delayed runs execute in the deployment only.', async () => {
  const { threads, runs } = shop.client
  const { thread_id: id } = await threads.create({ ttl: 60 })
  const delayed = await runs.create(id, 'agent', { input: say('later'), afterSeconds: 1 })
  expect(await own().crons.search()).toEqual([])
  await expect(own().threads.get(cronThread)).rejects.toThrow(/404/)
  await runs.join(id, delayed.run_id)
  expect(texts((await threads.getState(id)).values)).toContain('LATER')
  await expect.poll(async () => texts((await threads.getState(cronThread)).values), {
    timeout: 90_000,
  }).toContain('CRON')
})
