/** What `langgraphjs deploy` is answered: by whom it may be called, and what its words mean. */

import { describe, expect, it } from 'vitest'

import type { Deployment, Revision } from '../../../../src/deployment/index.ts'
import { buildLinesIn, hostedStatus,
  linesPage } from '../../../../src/frontdoor/control/hosted-json.ts'
import { call } from '../open-front-door.ts'
import { activeIn, openKeyed } from '../mount/deployment-door.ts'
import type { Send } from '../mount/deployment-door.ts'

const root = '/control/hosted'

/** `shop` of acme, and a request for each route. */
async function opened() {
  const all = await openKeyed()
  const shop = await activeIn(all.deployments)
  const revision = await all.deployments.records.beginBuild(shop, { message: '', by: 'test' })
  const one = `${root}/v2/deployments/${shop.id}`
  const logs = `${root}/v1/projects/${shop.id}`
  const source = { revision_source: 'internal_source',
    source_revision_config: { source_tarball_path: revision.id } }
  const cases: readonly (readonly [method: string, path: string, body?: unknown])[] = [['GET', one],
    ['POST', `${one}/push-token`, {}], ['POST', `${one}/upload-url`, {}], ['PATCH', one, source], [
    'GET',
    `${one}/revisions?limit=1`,
  ], ['GET', `${one}/revisions/${revision.id}`], ['POST',
    `${logs}/revisions/${revision.id}/build_logs`, { order: 'asc', limit: 50 }], ['POST',
    `${logs}/revisions/${revision.id}/deploy_logs`, {}], ['POST', `${logs}/deploy_logs`, {}], [
    'DELETE',
    one,
  ]]
  return { ...all, shop, revision, one, cases }
}

const statuses = async (send: Send,
  { cases }: Pick<Awaited<ReturnType<typeof opened>>, 'cases'>) => {
  const found: number[] = []
  for (const [method, path, body] of cases) found.push((await send(method, path, body)).status)
  return found
}

describe('the routes of langgraphjs deploy', () => {
  it.each(['deployer', 'admin'] as const)('answer a %s of the owner', async (role) => {
    const all = await opened()
    expect(await statuses(await all.as('acme', role), all))
      .toEqual([200, 422, 200, 409, 200, 200, 200, 200, 200, 204])
  })

  it('are found by LANGSMITH_ENDPOINT alone, and lead on by the same root', async () => {
    const { as, shop } = await opened()
    const send = await as('acme', 'deployer')
    for (const at of ['/api-host', root]) {
      const { json } = await send('POST', `${at}/v2/deployments/${shop.id}/upload-url`, {})
      expect(new URL(String(json['upload_url'])).pathname).toMatch(new RegExp(`^${at}/uploads/`))
      expect((await send('GET', `${at}/v2/listeners?limit=100&offset=0`)).json)
        .toEqual({ offset: 0, resources: [] })
      expect(await send('GET', `${at}/v2/listeners/one`)).toMatchObject({ status: 404,
        json: { message: expect.stringContaining('--listener-id') as string } })
    }
  })

  it('remove a deployment with its data, as the control API does', async () => {
    const { as, deployments, one } = await opened()
    const removed: string[] = []
    deployments.data.remove = async ({ name }) => void removed.push(name)
    expect((await (await as('acme', 'deployer'))('DELETE', one)).status).toBe(204)
    expect([removed, deployments.records.removed]).toEqual([['shop'], []])
  })

  it('are not there for others', async () => {
    const all = await opened()
    const [others, nobody] = [await all.as('other', 'admin'),
      (async (...request) => await call(all.door, ...request)) satisfies Send]
    const each = (status: number) => all.cases.map(() => status)
    expect(await statuses(others, all)).toEqual([404, 422, ...each(404).slice(2)])
    for (const role of ['developer', 'reader'] as const) {
      expect(await statuses(await all.as('acme', role), all)).toEqual(each(403))
    }
    expect(await statuses(nobody, all)).toEqual(each(401))
    expect((await others('GET', `${root}/v2/deployments?name_contains=`)).json)
      .toEqual({ offset: 0, resources: [] })
    const below: Send = async (method, path, body) =>
      await (await all.as('acme', 'admin'))(method, `/d/shop${path}`, body)
    expect(await statuses(below, all)).toEqual(each(404))
  })

  it('show a key of one deployment that one alone', async () => {
    const { as, deployments } = await opened()
    await activeIn(deployments, 'other')
    const send = await as('acme', 'deployer', 'other')
    const { json } = await send('GET', `${root}/v2/deployments`)
    expect(json).toMatchObject({ resources: [{ name: 'other' }] })
  })

  it('make a deployment, take its archive once and without a key, and build it', async () => {
    const { as, door, deployments: { builds, secrets, records } } = await opened()
    const send = await as('acme', 'deployer')
    const made = await send('POST', `${root}/v2/deployments`, { name: 'new',
      source: 'internal_source', source_config: { deployment_type: 'dev' },
      source_revision_config: {}, secrets: [{ name: 'KEY', value: 'v1' }] })
    expect(made).toMatchObject({ status: 201,
      json: { name: 'new',
        source_config: { custom_url: expect.stringMatching(/^http:\/\/[^/]+\/d\/new$/) } } })
    const id = String(made.json['id'])
    const one = `${root}/v2/deployments/${id}`
    const { json: { upload_url: url, object_path: path } } = await send('POST', `${one}/upload-url`)
    const address = new URL(String(url)).pathname
    expect(address).toMatch(/^\/control\/hosted\/uploads\//)
    const update = { revision_source: 'internal_source', secrets: [{ name: 'KEY', value: 'v1' }, {
      name: 'TWO',
      value: 'v2',
    }], source_revision_config: { source_tarball_path: path, langgraph_config_path: 'a/l.json' } }
    expect((await send('PATCH', one, update)).status).toBe(409)
    const put = () =>
      call(door, 'PUT', address, 'the archive', { 'content-type': 'application/gzip' })
    expect((await put()).status).toBe(200)
    expect((await put()).status).toBe(404)
    expect(builds.uploads.get(String(path))?.toString()).toBe('the archive')
    for (const commands of [{ install_command: 'npm i' }, { build_command: 'make' }]) {
      expect((await send('PATCH', one, { ...update, source_config: commands })).json)
        .toMatchObject({ error: 'invalid', message: expect.stringMatching(/^No commands are run/) })
    }
    expect(secrets.values.get(id)?.has('TWO')).toBe(false)
    expect((await send('PATCH', one, update)).status).toBe(200)
    expect(builds.started).toMatchObject([{ config: 'a/l.json', activates: true }])
    expect(await secrets.reveal(id)).toEqual({ KEY: 'v1', TWO: 'v2' })
    // What did not change is not set anew.
    expect(records.noted.get(id)!.filter(({ kind }) => kind === 'secret')).toHaveLength(2)
    expect((await send('GET', `${one}/revisions?limit=1`)).json)
      .toMatchObject({ resources: [{ id: path, status: 'BUILDING' }] })
  })
})

it('The lines of a build that was refused end with the reason', () => {
  const events = [{ kind: 'build', seq: 7, atMs: 5, data: { revision: 'r2', text: 'a\nb' } }]
  const words = (state: string, reason: string | null) =>
    buildLinesIn(events as never, { name: 'r2', state, reason, createdAtMs: 1 } as Revision)
      .map(({ level, message }) => `${level} ${message}`)
  expect(words('refused', 'No lock file.')).toEqual(['INFO a', 'INFO b', 'ERROR No lock file.'])
  expect(words('building', null)).toEqual(['INFO a', 'INFO b'])
})

describe('the status of a revision', () => {
  const none = { active: null, rollout: null, lastRollout: null }
  const built = { name: 'r2', state: 'uploading', hash: 'h', activeAtMs: null }
  const status = (deployment: object, revision: object, phase?: 'waiting' | 'building' | 'built') =>
    hostedStatus({ ...none, ...deployment } as Deployment, { ...built, ...revision } as Revision,
      phase)

  it('follows the build and the roll-out', () => {
    expect(status({}, { state: 'building', hash: '' }, 'waiting')).toBe('AWAITING_BUILD')
    expect(status({}, { state: 'building', hash: '' }, 'building')).toBe('BUILDING')
    expect(status({}, { state: 'refused', hash: '' })).toBe('BUILD_FAILED')
    expect(status({}, {}, 'building')).toBe('DEPLOYING')
    expect(status({}, {}, 'built')).toBe('DEPLOYING')
    expect(status({ rollout: { revision: 'r2', phase: 'preparing' } }, {})).toBe('DEPLOYING')
    expect(status({ rollout: { revision: 'r2', phase: 'watching' } }, {})).toBe('DEPLOYED')
    expect(status({ active: 'r2' }, {})).toBe('DEPLOYED')
    expect(status({ active: 'r3' }, { activeAtMs: 1 })).toBe('DEPLOYED')
    expect(status({ lastRollout: { revision: 'r2', result: 'refused' } }, {}, 'built'))
      .toBe('DEPLOY_FAILED')
    expect(status({}, { state: 'refused' })).toBe('DEPLOY_FAILED')
    expect(status({}, { state: 'ready' })).toBe('SKIPPED')
  })
})

describe('lines', () => {
  const lines = ['a', 'b', 'c'].map((message, index) => ({ id: `1.${index}`, timestamp: 1,
    level: 'INFO', message })
  )

  it('come page by page, each once', () => {
    const first = linesPage(lines, { order: 'asc', limit: 2 })
    expect(first).toEqual({ logs: lines.slice(0, 2), next_offset: '1.1' })
    const second = linesPage(lines, { order: 'asc', limit: 2, offset: first.next_offset })
    expect(second).toEqual({ logs: lines.slice(2), next_offset: '1.2' })
    expect(linesPage(lines, { offset: '1.2' })).toEqual({ logs: [], next_offset: '1.2' })
    expect(linesPage(lines, { order: 'desc', limit: 1 }).logs).toEqual(lines.slice(2))
    expect(linesPage(lines, { query: 'B' }).logs).toEqual(lines.slice(1, 2))
  })
})
