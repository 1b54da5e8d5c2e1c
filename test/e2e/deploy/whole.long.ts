/** A project with all that a langgraph.json may bring, deployed: refused, changed, taken back. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { useGates } from '../../support/gate.ts'
import { openKeyMaker } from '../../support/keys.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { Bakery } from '../whole/bakery.ts'
import { bakeryFolder } from '../whole/bakery-folder.ts'
import type { BakeryFolder } from '../whole/bakery-folder.ts'
import { promises } from '../whole/promises.ts'
import { componentFiles } from '../whole/surface.ts'
import { DeployTarget } from './deploy-target.ts'

const secret = 'the-secret-of-the-deployed-bakery'
const gate = useGates()
let root: string
let server: ServerProcess
let folder: BakeryFolder
let target: DeployTarget
let bakery: Bakery

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'heddle-whole-'))
  server = await startServer({
    args: [...oneWorker, '--auth', 'keys', '--deployments-hosts', 'bakery.example'],
  })
  const maker = await openKeyMaker(server)
  const key = await maker.make('acme', 'admin')
  await maker.close()
  folder = await bakeryFolder(join(root, 'bakery'), server.url, key)
  target = new DeployTarget(server.url, 'bakery', { 'x-api-key': key })
  expect(await target.create({ limits: { workers: 1 } })).toMatchObject({ status: 201 })
  expect(await target.own('PATCH', '', { hosts: ['bakery.example'] })).toMatchObject({
    status: 200,
  })
  const below = `${server.url}/d/bakery`
  bakery = new Bakery([{ url: below }, { url: server.url, host: 'bakery.example' }, {
    url: `${below}/branch`,
  }], secret)
})

afterAll(async () => {
  await server?.close()
  await rm(root, { recursive: true, force: true })
})

const deploy = () => folder.heddle('deploy', '--no-watch', '--json')

/** What a person sees of the active revision: who the login lets in, its routes and components. */
async function seen(): Promise<object> {
  const asked = { method: 'GET', path: '/bakery/user' }
  const [alice, bob] = await Promise.all(
    ['alice', 'bob'].map((user) => bakery.everywhere(user, asked)),
  )
  return { alice: alice!.json, bob: bob!.status, files: await componentFiles(bakery) }
}

it('It is refused without its secret, and taken with it.', async () => {
  const refused = await deploy()
  expect([refused.status, refused.stderr])
    .toEqual([3, expect.stringMatching(/auth\.ts.*BAKERY_SECRET is missing/s)])
  expect(await folder.heddle('secrets', 'set', `BAKERY_SECRET=${secret}`))
    .toMatchObject({ status: 0 })
  expect(await deploy()).toMatchObject({ status: 0, stderr: '' })
})

describe('a deployment with a login, an app, components and agents', () => {
  it.each(promises)('%s', (_, keep) => keep(bakery, gate()))
})

it('A login, an app or a component that cannot be loaded is refused, and the old ones serve on.',
  async () => {
    const before = await seen()
    expect(before).toMatchObject({ alice: { user: { identity: 'alice' } }, bob: 200 })
    const changes = [
      ['auth.ts', 'if (!secret)', 'if (secret)', /auth\.ts.*BAKERY_SECRET is missing/s],
      ['auth.ts', 'export const auth', 'export const other', /auth\.ts.*auth/s],
      ['app.ts', 'export const app = new Hono', 'export const app = new Map', /app\.ts.*app/s],
      ['app.ts', 'app.use(', 'app.use((', /app\.ts/],
      ['ui.jsx', 'function Card({ city }) {', 'function Card({ city } {', /ui\.jsx:5/],
      ['ui.css', '.bakery-card', '@import "./gone.css"; .bakery-card', /ui\.css.*gone\.css/s],
    ] as const
    for (const [file, from, to, says] of changes) {
      const putBack = await folder.change(file, from, to)
      const refused = await deploy()
      expect([file, refused.status, refused.stderr])
        .toEqual([file, 3, expect.stringMatching(says)])
      expect(refused.stderr).not.toContain(secret)
      expect(await seen()).toEqual(before)
      await putBack()
    }
  })

it('A new login, app and component take the place of the old ones, and a rollback brings these.',
  async () => {
    const before = await seen()
    await folder.change('auth.ts', "if (pass === '' ||", "if (name === 'bob' ||")
    await folder.change('app.ts', 'path: c.req.path }', "path: c.req.path, now: 'second' }")
    await folder.change('ui.jsx', 'Orders for', 'Orders of')
    expect(await deploy()).toMatchObject({ status: 0, stderr: '' })
    const after = await seen() as { readonly files: Readonly<Record<string, string>> }
    expect(after).toMatchObject({ alice: { now: 'second' }, bob: 401 })
    expect(Object.values(after.files).join('\n')).toContain('Orders of')
    // Pages are open longer than a roll-out takes.
    for (const [name, content] of Object.entries((before as typeof after).files)) {
      expect(await bakery.everywhere(undefined, { method: 'GET', path: `/ui/bakery/${name}` }))
        .toMatchObject({ status: 200, text: content })
    }
    expect(await folder.heddle('rollback')).toMatchObject({ status: 0 })
    expect(await seen()).toEqual(before)
  })

it('Another secret ends the passes of the old one, and none is in a log.', async () => {
  const user = { method: 'GET', path: '/bakery/user' }
  expect(await bakery.everywhere('alice', user)).toMatchObject({ status: 200 })
  const another = 'another-secret-of-the-bakery'
  expect(await folder.heddle('secrets', 'set', `BAKERY_SECRET=${another}`))
    .toMatchObject({ status: 0 })
  expect(await bakery.everywhere('alice', user)).toMatchObject({ status: 401 })
  const later = new Bakery(bakery.doors, another)
  expect(await later.everywhere('alice', user)).toMatchObject({ status: 200 })
  await later.everywhere('throws', { method: 'POST', path: '/threads', body: {} })
  const logs = await folder.heddle('logs')
  expect(logs.stdout).toContain('It holds')
  for (const each of [secret, another]) {
    expect(logs.stdout).not.toContain(each)
    expect(server.output()).not.toContain(each)
  }
})
