/** With keys, the code of a run calls its own server: where it arrives, and what it may do. */

import { afterAll, beforeAll, expect, it } from 'vitest'

import { openKeyMaker } from '../../support/keys.ts'
import type { KeyMaker } from '../../support/keys.ts'
import { say, texts } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { deployedProject, replying } from './deployed-project.ts'
import type { DeployedProject } from './deployed-project.ts'
import { DeployTarget } from './deploy-target.ts'

let project: DeployedProject
let server: ServerProcess
let maker: KeyMaker
/** The deployment as each caller sees it. */
let shop: Readonly<Record<'deployer' | 'developer' | 'reader', DeployTarget>>
/** The server's own project as the same callers see it. */
let own: Readonly<Record<'developer' | 'reader', ReturnType<typeof clientOf>>>

/** `make` makes threads and an item; `keep` leaves a call for later, which `late` does. */
const node = `
  const port = \`http://localhost:\${process.env.PORT}\`
  const late = () => fetch(port + '/threads', { method: 'POST', body: '{}',
    headers: { 'content-type': 'application/json' } }).then(({ status }) => status)
  const text = state.messages.at(-1).content
  if (text === 'keep') {
    globalThis.kept = new Promise((go) => globalThis.go = go).then(late)
    return say(await late())
  }
  if (text === 'late') {
    globalThis.go()
    return say(await globalThis.kept)
  }
  const clients = [client, new Client({ apiUrl: port })]
  const made = await Promise.all(clients.map(({ threads }) => threads.create()))
  await client.store.putItem(['made'], text, { by: 'a node' })
  return say(made.map((each) => each.thread_id).join(' '))`

beforeAll(async () => {
  ;[project, server] = await Promise.all([
    deployedProject({}, { '@langchain/langgraph-sdk': '*' }),
    startServer({ project: 'conformance', args: [...oneWorker, '--auth', 'keys'] }),
  ])
  maker = await openKeyMaker(server)
  const headers = async (role: 'deployer' | 'developer' | 'reader') => ({
    'x-api-key': await maker.make('acme', role),
  })
  const as = { deployer: await headers('deployer'), developer: await headers('developer'),
    reader: await headers('reader') }
  const target = (role: keyof typeof as) => new DeployTarget(server.url, 'shop', as[role])
  shop = { deployer: target('deployer'), developer: target('developer'), reader: target('reader') }
  own = { developer: clientOf(server.url, as.developer), reader: clientOf(server.url, as.reader) }
  expect(await shop.deployer.create({ limits: { workers: 1 } })).toMatchObject({ status: 201 })
  await shop.deployer.deploy(
    await project.built(
      replying(node,
        "import { Client } from '@langchain/langgraph-sdk'\nconst client = new Client()"),
    ),
  )
})

afterAll(async () => {
  await maker?.close()
  await server?.close()
  await project?.remove()
})

it('A node of a deployment makes threads and items there, and none beside it.', async () => {
  const before = await own.developer.threads.count()
  const ids = (await shop.developer.answer('make'))!.split(' ')
  expect(ids).toHaveLength(2)
  const { threads, store } = shop.developer.client
  for (const id of ids) expect(await threads.get(id)).toMatchObject({ thread_id: id })
  expect(await store.getItem(['made'], 'make')).toMatchObject({ value: { by: 'a node' } })
  expect(await own.developer.threads.count()).toBe(before)
  expect(await own.developer.store.getItem(['made'], 'make')).toBeNull()
})

it('Who may only read starts no node that writes.', async () => {
  const before = await shop.developer.client.threads.count()
  for (const { runs } of [shop.reader.client, own.reader]) {
    await expect(runs.wait(null, 'agent', { input: say('make') })).rejects
      .toMatchObject({ status: 403 })
  }
  expect(await shop.developer.client.threads.count()).toBe(before)
})

it('A key of a run does nothing after the run.', async () => {
  expect(await shop.developer.answer('keep')).toBe('200')
  expect(await shop.developer.answer('late')).toBe('401')
})

it('A node of the own project reaches its own server as its caller.', async () => {
  const { runs } = own.developer
  expect(texts(await runs.wait(null, 'calling', { input: say('hi') })).slice(1)).toEqual([
    'echo: hi',
    expect.stringContaining('cannot be asked while its graphs are loaded'),
    '200 200',
  ])
})
