/** The control API: deployments, revisions, chunks, roll-outs and secrets over HTTP. */

import { describe, expect, it, vi } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { activeIn, aManifest, openKeyed } from '../mount/deployment-door.ts'
import type { Send } from '../mount/deployment-door.ts'
import type { Answer } from '../open-front-door.ts'

const root = '/control/v1/deployments'

/** A deployment `shop` with an uploaded revision r1. */
async function uploaded(options: Parameters<typeof openKeyed>[0] = {}) {
  const opened = await openKeyed(options)
  const send = await opened.as('acme', 'deployer')
  await send('POST', root, { name: 'shop' })
  const { manifest, sha256, chunk } = aManifest()
  const begun = await send('POST', `${root}/shop/revisions`, { manifest, message: 'first' })
  const put = await putChunk(send, sha256, chunk)
  return { ...opened, send, begun, put, manifest, sha256, chunk }
}

/** Sends bytes, which are no JSON. */
function putChunk(send: Send, sha256: string, chunk: Buffer): Promise<Answer> {
  return send('PUT', `${root}/shop/revisions/r1/chunks/${sha256}`, chunk.toString(), {
    'content-type': 'application/octet-stream',
  })
}

const actions = (answer: Answer) => [answer.status, answer.json['error']]

describe('a deployment', () => {
  it('is made, listed, changed and shown with its address', async () => {
    const { door, as } = await openKeyed({ allowedHosts: ['shop.example.com'] })
    const send = await as('acme', 'admin')
    const made = await send('POST', root, { name: 'shop', limits: { workers: 3 } })
    expect(made.status).toBe(201)
    expect(made.json).toMatchObject({ name: 'shop', tenant: 'acme', access: 'own', hosts: [],
      url: `${door.url}/d/shop`,
      limits: { workers: 3, memory_mb: 512, concurrency: 100, run_timeout_s: 3_600, body_mb: 25,
        requests: null }, paused: false, active: null, previous: null, next: null, env_version: 0,
      rollout: null, last_rollout: null, preview: null,
      created_at: expect.stringMatching(/^\d{4}-/), updated_at: expect.any(String) })
    expect(made.text).not.toMatch(/"id"|step|removing|revisionCount/)
    const patched = await send('PATCH', `${root}/shop`, { paused: true, access: 'any',
      limits: { memory_mb: 1_024 }, hosts: ['Shop.example.com'] })
    expect(patched.json).toMatchObject({ paused: true, access: 'any', hosts: ['shop.example.com'],
      url: 'https://shop.example.com', limits: { workers: 3, memory_mb: 1_024 } })
    expect((await send('GET', `${root}/shop`)).json).toEqual(patched.json)
    expect((await send('GET', root)).json).toEqual({ deployments: [patched.json] })
    expect((await send('GET', `${root}?offset=1`)).json).toEqual({ deployments: [] })
  })

  it('says which share of its runs is recorded, and takes nothing else for that', async () => {
    const { as } = await openKeyed()
    const send = await as('acme', 'admin')
    expect((await send('POST', root, { name: 'shop', record: 'all' })).json['record']).toBe('all')
    const said = async (record: unknown) =>
      (await send('PATCH', `${root}/shop`, { record })).json['record']
    expect([await said('2.5%'), await said('off'), await said(null)]).toEqual(['2.5%', 'off', null])
    for (const record of ['some', '200%', '', 10, 'x'.repeat(1_000)]) {
      const { status, json } = await send('PATCH', `${root}/shop`, { record })
      expect([status, json['message']]).toEqual([422, expect.stringMatching(/record/)])
    }
    expect((await send('GET', `${root}/shop`)).json['record']).toBeNull()
  })

  it('has its changes noted as they were said, and takes none that means nothing', async () => {
    const { as, deployments: { records } } = await openKeyed()
    const send = await as('acme', 'admin')
    await send('POST', root, { name: 'shop' })
    await send('PATCH', `${root}/shop`, { paused: true })
    const filled = await send('PATCH', `${root}/shop`, { paused: false, tenant: 'other' })
    expect([filled.status, filled.json['message']])
      .toEqual([422, 'tenant: is not a member of this request.'])
    const { id } = await records.get('shop')
    expect((await records.events(id, 1, 10)).map(({ data }) => data))
      .toEqual([{ change: 'changed', paused: true }])
  })

  it("has a name that is a DNS label, and hosts that are nobody's", async () => {
    const { as } = await openKeyed({ domain: 'agents.example.org', ownHosts: ['heddle.example.org'],
      allowedHosts: ['*.example.org'] })
    const send = await as('acme', 'admin')
    for (const name of ['Shop', 'a.b', '-a', 'a-', '123', '', 'a'.repeat(64), '../x']) {
      expect([name, (await send('POST', root, { name })).status]).toEqual([name, 422])
    }
    for (const host of ['localhost', '127.0.0.1', '10.0.0.1', '[::1]', 'shop', 'a..b', 'x.y/z',
      'heddle.example.org', 'x.agents.example.org', 'agents.example.org', 'a.example.org:80',
      'a b.example.org', '*.example.org']) {
      const answer = await send('POST', root, { name: 'shop', hosts: [host] })
      expect([host, answer.status]).toEqual([host, 422])
    }
    expect((await send('POST', root, { name: 'shop' })).json['url'])
      .toBe('https://shop.agents.example.org')
    expect(actions(await send('POST', root, { name: 'shop' }))).toEqual([409, 'exists'])
  })

  it('is built where the server says, whatever a caller says of the place', async () => {
    const { as, deployments } = await openKeyed()
    await activeIn(deployments)
    const begin = vi.spyOn(deployments.builds, 'begin')
    const send = await as('acme', 'deployer')
    const body = { archive: aManifest().archive, config: 'langgraph.json' }
    for (const more of [{ path: '../../../../tmp/x' }, { kind: 'package' }]) {
      const answer = await send('POST', `${root}/shop/builds`, { ...body,
        archive: { ...body.archive, ...more } })
      expect([answer.status, answer.text]).toEqual([422,
        expect.stringContaining(`archive.${Object.keys(more)[0]}: is not a member`)])
    }
    expect((await send('POST', `${root}/shop/builds`, body)).status).toBe(201)
    expect(begin.mock.calls.map(([, { archive }]) => [archive?.kind, archive?.path]))
      .toEqual([['own', '']])
  })

  it('cannot take the name by which the server is called', async () => {
    const { as, deployments } = await openKeyed({ isFromProxy: () => true,
      allowedHosts: ['*.example.org'] })
    await activeIn(deployments)
    const send = await as('acme', 'admin')
    const behind = { 'x-forwarded-host': 'Heddle.example.org:8443' }
    for (const [method, path] of [['POST', root], ['PATCH', `${root}/shop`]] as const) {
      const answer = await send(method, path, { ...method === 'POST' && { name: 'more' },
        hosts: ['heddle.example.org'] }, behind)
      expect([method, answer.status, answer.text]).toEqual([method, 422,
        expect.stringContaining('is a name of the server itself')])
    }
    expect((await send('PATCH', `${root}/shop`, { hosts: ['x.example.org'] }, behind)).status)
      .toBe(200)
  })

  it('has host names by the word of the operator and of an admin only', async () => {
    const { as, deployments } = await openKeyed({ allowedHosts: ['a.example.org', '*.b.org'] })
    await activeIn(deployments)
    const [admin, deployer] = [await as('acme', 'admin'), await as('acme', 'deployer')]
    const set = async (send: Send, ...hosts: string[]) =>
      actions(await send('PATCH', `${root}/shop`, { hosts }))
    for (const host of ['b.org', 'x.example.org', 'a.example.org.evil.org', 'xb.org']) {
      expect([host, ...await set(admin, host)]).toEqual([host, 422, 'invalid'])
    }
    expect(await set(deployer, 'a.example.org')).toEqual([403, 'forbidden'])
    expect(await set(admin, 'a.example.org', 'X.b.org')).toEqual([200, undefined])
    // What it has stays and goes without an admin.
    expect(await set(deployer, 'x.b.org')).toEqual([200, undefined])
    expect(await set(deployer, 'x.b.org', 'y.b.org')).toEqual([403, 'forbidden'])
    const made = await deployer('POST', root, { name: 'more', hosts: ['y.b.org'] })
    expect(actions(made)).toEqual([403, 'forbidden'])
  })

  it('has no host name by which others were served', async () => {
    const { as, deployments } = await openKeyed({ isFromProxy: () => true,
      allowedHosts: ['*.example.org'] })
    await activeIn(deployments)
    const [admin, other] = [await as('acme', 'admin'), await as('other', 'reader')]
    const by = (host: string) => ({ 'x-forwarded-host': host })
    await admin('GET', '/info', undefined, by('new.example.org'))
    await admin('GET', '/threads/x', undefined, by('new.example.org'))
    await other('GET', '/threads/x', undefined, by('Agents.example.org.:443'))
    const set = async (host: string) =>
      (await admin('PATCH', `${root}/shop`, { hosts: [host] })).json['message'] ?? 'set'
    expect(await set('agents.example.org'))
      .toBe('hosts: agents.example.org is a name by which the server itself serves others.')
    expect(await set('new.example.org')).toBe('set')
    await other('GET', '/threads/x', undefined, by('shared.example.org'))
    await admin('GET', '/threads/x', undefined, by('shared.example.org'))
    expect(await set('shared.example.org')).toContain('serves others')
  })

  it('with data, but nothing active, is removed only when that is said', async () => {
    const begun: string[] = []
    const { deployments, as } = await openKeyed({
      data: { isEmpty: async () => false, remove: async ({ name }) => void begun.push(name) },
    })
    await deployments.records.create({ name: 'shop', tenant: 'acme' })
    const send = await as('acme', 'deployer')
    expect((await send('DELETE', `${root}/shop`)).status).toBe(422)
    expect(deployments.records.rows.get('shop')).toMatchObject({ removing: false })
    expect((await send('DELETE', `${root}/shop?data=remove`)).status).toBe(202)
    expect([begun, deployments.records.removed]).toEqual([['shop'], []])
    expect(deployments.records.rows.get('shop')).toMatchObject({ removing: true })
  })

  it('is changed although a roll-out changes it at the same time', async () => {
    const { deployments, as } = await openKeyed()
    await activeIn(deployments)
    const { records } = deployments
    const change = records.change.bind(records)
    let races = 3
    records.change = async (row, wanted) => {
      if (races-- > 0) await change(await records.get('shop'), { active: `r${races + 5}` })
      return await change(row, wanted)
    }
    const send = await as('acme', 'admin')
    expect((await send('PATCH', `${root}/shop`, { paused: true })).status).toBe(200)
    expect(records.rows.get('shop')).toMatchObject({ paused: true, active: 'r5' })
  })

  it('with something active is removed only when that is said', async () => {
    const { deployments, as } = await openKeyed()
    await activeIn(deployments)
    const send = await as('acme', 'deployer')
    const refused = await send('DELETE', `${root}/shop`)
    expect(actions(refused)).toEqual([422, 'invalid'])
    expect(refused.json['message']).toContain('?data=remove')
    const removed = await send('DELETE', `${root}/shop?data=remove`)
    expect([removed.status, removed.json]).toEqual([202, { removing: true }])
    expect(deployments.records.removed).toEqual(['shop'])
    await send('POST', root, { name: 'empty' })
    expect((await send('DELETE', `${root}/empty`)).status).toBe(202)
  })

  it('that is being removed can be removed again, and is not there otherwise', async () => {
    const { deployments, as } = await openKeyed()
    await activeIn(deployments, 'shop', { removing: true })
    const send = await as('acme', 'deployer')
    expect((await send('GET', `${root}/shop`)).status).toBe(404)
    expect((await send('GET', root)).json).toEqual({ deployments: [] })
    expect((await send('DELETE', `${root}/shop?data=remove`)).status).toBe(202)
  })
})

describe('a revision', () => {
  it('is begun from a manifest, and uploaded chunk by chunk', async () => {
    const { begun, put, send, manifest, sha256 } = await uploaded()
    expect(begun.status).toBe(201)
    expect(begun.json).toMatchObject({ missing: [sha256], expires_at: expect.any(String),
      revision: { name: 'r1', state: 'uploading', message: 'first', running: null,
        waiting_threads: null, graphs: [] } })
    expect(put.status).toBe(204)
    expect((await send('GET', `${root}/shop/revisions/r1/chunks`)).json).toEqual({ missing: [] })
    const again = await send('POST', `${root}/shop/revisions`, { manifest })
    expect([again.status, (again.json['revision'] as { name: string }).name]).toEqual([200, 'r1'])
    expect((await send('GET', `${root}/shop/revisions`)).json)
      .toMatchObject({ revisions: [{ name: 'r1' }] })
  })

  it('takes no chunk that is empty, too long, of another hash, or not named', async () => {
    const { send, sha256 } = await uploaded()
    expect(actions(await putChunk(send, sha256, Buffer.from('other')))).toEqual([422, 'invalid'])
    expect(actions(await putChunk(send, 'f'.repeat(64), Buffer.from('x')))[0]).toBe(404)
    expect((await putChunk(send, 'xyz', Buffer.from('x'))).status).toBe(422)
    const long = await putChunk(send, sha256, Buffer.alloc(4 * 1024 * 1024 + 1, 'a'))
    expect(actions(long)).toEqual([413, 'too_large'])
  })

  it('has a manifest that is valid', async () => {
    const { send, manifest } = await uploaded()
    for (const wrong of [{}, { ...manifest, archives: [] }, { ...manifest, config: '../x' }]) {
      const answer = await send('POST', `${root}/shop/revisions`, { manifest: wrong })
      expect(actions(answer)).toEqual([422, 'invalid'])
    }
    const huge = { ...manifest, wants_env: ['x'.repeat(9 * 1024 * 1024)] }
    expect(actions(await send('POST', `${root}/shop/revisions`, { manifest: huge })))
      .toEqual([413, 'too_large'])
  })

  it('is checked, made active, shown as active, and gone back from', async () => {
    const { send, deployments } = await uploaded()
    const checked = await send('POST', `${root}/shop/revisions/r1/check`)
    expect(checked.json).toMatchObject({
      revision: { state: 'ready', graphs: [{ graph_id: 'agent', nodes: ['a'] }] },
      report: { graphs_added: ['agent'] },
    })
    const active = await send('POST', `${root}/shop/revisions/r1/activate`, { watch_s: 60,
      prepare_s: 30, percent: 100, now: true, message: 'go' })
    expect([active.status, active.json]).toEqual([200, { active: 'r1', previous: null, next: null,
      env_version: 0, kept_secrets: [], pointer_ms: 12,
      members: [{ id: 'm1', state: 'confirmed', ms: 12 }, { id: 'm2', state: 'silent', ms: null }],
      unconfirmed: ['m2'], still_running: [], rollout_id: expect.any(String) }])
    expect(deployments.rollouts.asked.at(-1)).toMatchObject({ kind: 'activate', percent: 100,
      now: true, watchMs: 60_000, prepareMs: 30_000, message: 'go',
      by: expect.stringMatching(/^[0-9a-f]{16}$/) })
    await send('POST', `${root}/shop/revisions`, { manifest: aManifest('new').manifest })
    await send('POST', `${root}/shop/revisions/r2/activate`)
    const back = await send('POST', `${root}/shop/rollback`, { now: true })
    expect(deployments.rollouts.asked.at(-1)).toMatchObject({ kind: 'rollback', now: true })
    expect(back.json).toMatchObject({ active: 'r1', previous: 'r2' })
    expect((await send('POST', `${root}/shop/rollback`, { to: 'r9' })).status).toBe(404)
  })

  it('may be in use if that cannot be counted', async () => {
    const { send } = await uploaded({ use: async () => null })
    const { status, json } = await send('DELETE', `${root}/shop/revisions/r1`)
    expect([status, json['message']]).toEqual([409, expect.stringContaining('too many to count')])
    expect((await send('DELETE', `${root}/shop/revisions/r1?force=true`)).status).toBe(200)
  })

  it('counts what goes on with others, if that is counted', async () => {
    const use = async () => new Map([['r1', { running: 2, waitingThreads: 1 }]])
    const { send } = await uploaded({ use })
    await send('POST', `${root}/shop/revisions/r1/activate`)
    await send('POST', `${root}/shop/revisions`, { manifest: aManifest('new').manifest })
    const active = await send('POST', `${root}/shop/revisions/r2/activate`)
    expect(active.json['still_running']).toEqual([{ revision: 'r1', runs: 2 }])
    expect((await send('GET', `${root}/shop/revisions/r1`)).json)
      .toMatchObject({ running: 2, waiting_threads: 1 })
    for (const name of ['r1', 'r2']) {
      expect(actions(await send('DELETE', `${root}/shop/revisions/${name}`)))
        .toEqual([409, 'in_use'])
    }
    expect((await send('DELETE', `${root}/shop/revisions/r2?force=true`)).status).toBe(409)
    expect((await send('DELETE', `${root}/shop/revisions/r1?force=true`)).json)
      .toMatchObject({ state: 'removed' })
  })

  it('that is asked for with respond-async is answered at once', async () => {
    const { send, deployments } = await uploaded()
    const answer = await send('POST', `${root}/shop/revisions/r1/activate`, {}, {
      prefer: 'respond-async, wait=10',
    })
    expect([answer.status, answer.json]).toMatchObject([202, {
      rollout: { kind: 'activate', revision: 'r1', phase: 'watching', watch_s: 0 },
    }])
    expect(deployments.rollouts.asked.at(-1)).toMatchObject({ wait: false })
  })

  it.each([
    [new HeddleError('stale', 'r7 is active.'), 409, { error: 'stale', message: 'r7 is active.' }],
    [new HeddleError('not_ready'), 409, { error: 'not_ready',
      message: 'It is not ready for this.' }],
    [
      new HeddleError('graph_failed', 'No.', {
        graphs: [{ graph_id: 'a', message: 'x', at: null }],
      }),
      422,
      { error: 'graph_failed', message: 'No.',
        graphs: [{ graph_id: 'a', message: 'x', at: null }] },
    ],
  ])('tells why it is not active: %s', async (error, status, body) => {
    const { send, deployments } = await uploaded()
    deployments.rollouts.fails = error
    for (const path of ['revisions/r1/activate', 'revisions/r1/check', 'rollback']) {
      const answer = await send('POST', `${root}/shop/${path}`,
        path === 'rollback' ? { to: 'r1' } : {})
      expect([answer.status, answer.json]).toEqual([status, body])
    }
  })
})

describe('secrets', () => {
  it('are not set beside one that no process could be given', async () => {
    const { send, deployments } = await uploaded()
    const { secrets, records } = deployments
    await records.change(await records.get('shop'), { active: 'r1' })
    await send('PUT', `${root}/shop/secrets/OLD`, { value: 'x' })
    secrets.foreign.add('OLD')
    const refused = await send('PUT', `${root}/shop/secrets`, { values: { NEW: 'x' } })
    expect([refused.status, refused.json['message']]).toEqual([422,
      expect.stringMatching(/^OLD: sealed with a key that this server does not have/)])
    expect(actions(await send('PUT', `${root}/shop/secrets/NEW`, { value: 'x' })))
      .toEqual([422, 'invalid'])
    const both = await send('PUT', `${root}/shop/secrets`, { values: { NEW: 'x', OLD: 'y' } })
    expect(both.status).toBe(200)
    // It may always go; but nothing would start beside one that stays.
    expect((await send('DELETE', `${root}/shop/secrets/NEW`)).json).toEqual({ rollout: null })
    const starts = () => deployments.rollouts.asked.filter(({ kind }) => kind === 'secrets').length
    const before = starts()
    expect((await send('DELETE', `${root}/shop/secrets/OLD`)).status).toBe(200)
    expect(starts()).toBe(before + 1)
  })

  it('are set, listed by name, and removed; their values are shown nowhere', async () => {
    const { send, deployments } = await uploaded()
    const value = 'a-value-that-is-secret'
    const set = await send('PUT', `${root}/shop/secrets/MODEL_KEY`, { value })
    expect(set.json).toEqual({ name: 'MODEL_KEY', version: 1, updated_at: expect.any(String),
      state: 'kept', rollout: null })
    await send('POST', `${root}/shop/revisions/r1/activate`)
    const many = await send('PUT', `${root}/shop/secrets`, { values: { A: value, B: value } })
    expect(many.json).toMatchObject({ rollout: { kind: 'secrets' } })
    expect(deployments.rollouts.asked.filter(({ kind }) => kind === 'secrets')).toHaveLength(1)
    const quiet = await send('PUT', `${root}/shop/secrets/A`, { value, restart: false })
    expect(quiet.json['rollout']).toBeNull()
    const listed = await send('GET', `${root}/shop/secrets`)
    expect(listed.json).toMatchObject({ env_version: 0, secrets: [{ name: 'A', state: 'kept' }, {
      name: 'B',
      state: 'in_use',
    }, { name: 'MODEL_KEY' }] })
    expect((await send('GET', `${root}/shop`)).json)
      .toMatchObject({ kept_secrets: ['A', 'MODEL_KEY'], problems: [] })
    const gone = await send('DELETE', `${root}/shop/secrets/A`)
    expect(gone.json).toMatchObject({ rollout: { kind: 'secrets' } })
    const events = await send('GET', `${root}/shop/events?follow=false`)
    for (const { text } of [set, many, quiet, listed, gone, events])
      expect(text).not.toContain(value)
  })

  it('have names of variables, and values that are not quoted when they are wrong', async () => {
    const { send, deployments } = await uploaded()
    const long = 'secret'.repeat(20_000)
    const answers = [await send('PUT', `${root}/shop/secrets/A`, { value: long }),
      await send('PUT', `${root}/shop/secrets/A`, { value: 1_234_567 }),
      await send('PUT', `${root}/shop/secrets/1A`, { value: 'x' }),
      await send('PUT', `${root}/shop/secrets`, { values: { A: 'secret', 'B-C': 'secret' } }),
      await send('PUT', `${root}/shop/secrets`, { values: { A: long } })]
    for (const answer of answers) {
      expect(actions(answer)).toEqual([422, 'invalid'])
      expect(answer.text).not.toMatch(/secretsecret|1234567/)
    }
    expect(deployments.secrets.values.size).toBe(0)
  })

  it('stay as they were if the code cannot live with them, or not now', async () => {
    const { send, deployments } = await uploaded()
    await activeIn(deployments, 'other')
    const graphs = [{ graph_id: 'agent', message: 'No such key', at: null }]
    for (const [error, status] of [[new HeddleError('stale'), 409], [
      new HeddleError('graph_failed', 'No such key', { graphs }),
      422,
    ]] as const) {
      deployments.rollouts.fails = error
      const answers = [await send('PUT', `${root}/other/secrets/A`, { value: 'x' }),
        await send('PUT', `${root}/other/secrets`, { values: { A: 'x' }, remove: ['B'] }),
        await send('DELETE', `${root}/other/secrets/A`)]
      expect(answers.map(actions)).toEqual(answers.map(() => [status, error.code]))
    }
    expect((await send('GET', `${root}/other/secrets`)).json).toMatchObject({ secrets: [] })
    expect((await send('GET', `${root}/other`)).json).toMatchObject({ kept_secrets: [] })
    const events = await send('GET', `${root}/other/events?follow=false`)
    expect(events.text).not.toContain('secret')
  })
})
