/** Sessions over HTTP: what clients send and get, and what other tenants do not. */

import { describe, expect, it } from 'vitest'

import { tenantId } from '../../../../src/platform/index.ts'
import { listIn, platformDoor } from './platform-door.ts'
import type { PlatformDoor } from './platform-door.ts'

const dataset = '11111111-1111-4111-8111-111111111111'
const nobody = '99999999-9999-4999-8999-999999999999'

async function namesIn(answer: ReturnType<PlatformDoor['send']>): Promise<unknown[]> {
  return listIn(await answer).map(({ name }) => name)
}

describe('sessions', () => {
  it('are made once, also with a slash at the end and below any root', async () => {
    const { send } = await platformDoor()
    const made = await send('POST', '/api/v1/sessions/', { name: 'one',
      extra: { metadata: { a: 1 } }, description: null, reference_dataset_id: null })
    expect(made).toMatchObject({ status: 200,
      json: { name: 'one', tenant_id: tenantId('acme'), reference_dataset_id: null,
        extra: { metadata: { a: 1 } } } })
    const again = await send('POST', '/sessions', { name: 'one' })
    expect(again).toMatchObject({ status: 409, json: { error: expect.any(String) as string } })
    const upserted = await send('POST', '/api/sessions?upsert=true', { name: 'one',
      description: 'd' })
    expect(upserted.json).toMatchObject({ id: made.json['id'], description: 'd',
      extra: { metadata: { a: 1 } } })
    for (const body of [{}, { name: '' }, { name: 'x', id: 'y' }, { name: 'x', extra: 5 }, {
      name: 'x',
      end_time: 'soon',
    }]) {
      expect((await send('POST', '/sessions', body)).status).toBe(422)
    }
  })

  it('are listed by what they say', async () => {
    const { send, asked } = await platformDoor()
    await send('POST', '/sessions', { name: 'one', extra: { metadata: { a: 1 } } })
    await send('POST', '/sessions', { name: 'two', reference_dataset_id: dataset, start_time: 5,
      num_examples: 3 })
    const all = await send('GET', '/sessions?limit=100&offset=0')
    expect(all.headers.get('x-pagination-total')).toBe('2')
    expect(listIn(all)).toMatchObject([{ name: 'one' }, { name: 'two', num_examples: 3 }])
    expect(await namesIn(send('GET', '/sessions?name=two'))).toEqual(['two'])
    expect(await namesIn(send('GET', '/sessions?name=nobody'))).toEqual([])
    expect(await namesIn(send('GET', '/sessions?name_contains=O&sort_by=name&sort_by_desc=false')))
      .toEqual(['one', 'two'])
    expect(await namesIn(send('GET', '/sessions?reference_free=true'))).toEqual(['one'])
    expect(await namesIn(send('GET', `/sessions?reference_dataset=${dataset}`))).toEqual(['two'])
    const metadata = encodeURIComponent('{"a":1}')
    expect(await namesIn(send('GET', `/sessions?metadata=${metadata}`))).toEqual(['one'])
    expect((await send('GET', '/sessions?metadata=x')).status).toBe(422)
    expect((await send('GET', '/sessions?limit=101')).status).toBe(422)
    expect(asked).toEqual([])
    const [first] = listIn(await send('GET', '/sessions?include_stats=true&limit=1'))
    expect(first).toMatchObject({ name: 'one', run_count: 7, total_cost: '0.5' })
  })

  it('are read, changed and deleted', async () => {
    const { send, removed } = await platformDoor()
    const id = String(
      (await send('POST', '/sessions', { name: 'one', description: 'd' })).json['id'],
    )
    const path = `/sessions/${id}`
    expect((await send('PATCH', path, { end_time: 5, name: null, description: null, extra: null }))
      .json).toMatchObject({ name: 'one', description: 'd',
        end_time: '1970-01-01T00:00:00.005000+00:00' })
    expect((await send('GET', `${path}?include_stats=true`)).json)
      .toMatchObject({ id, run_count: 7 })
    expect((await send('GET', `${path}?`)).json).not.toHaveProperty('run_count')
    expect((await send('GET', `/sessions/${id.replaceAll('-', '')}`)).status).toBe(200)
    expect((await send('DELETE', path)).status).toBe(202)
    expect(removed).toEqual([id])
    for (const method of ['GET', 'DELETE']) {
      expect((await send(method, path)).status).toBe(404)
    }
    expect((await send('PATCH', path, {})).status).toBe(404)
    expect((await send('GET', '/sessions/no-uuid')).status).toBe(404)
  })

  it('are deleted together', async () => {
    const { send, removed } = await platformDoor()
    const ids = await Promise.all(
      ['a', 'b'].map(async (name) =>
        String((await send('POST', '/sessions', { name })).json['id'])
      ),
    )
    const query = [...ids, nobody].map((id) => `session_ids=${id}`).join('&')
    expect((await send('DELETE', `/sessions?${query}`)).status).toBe(202)
    expect(removed.toSorted()).toEqual(ids.toSorted())
    expect(await namesIn(send('GET', '/sessions'))).toEqual([])
    expect((await send('DELETE', '/sessions')).status).toBe(422)
  })

  it('are found by their address', async () => {
    const { send } = await platformDoor()
    const made = async (body: object) => (await send('POST', '/sessions', body)).json['id']
    const agent = await made({ name: 'helper/production' })
    const experiment = await made({ name: 'x', reference_dataset_id: dataset })
    const find = (query: string) => send('GET', `/api/v1/sessions/resolutions?${query}`)
    expect((await find('kind=AGENT&id=helper&environment=PRODUCTION')).json)
      .toEqual({ session_id: agent })
    expect((await find(`kind=experiment&id=${String(experiment)}`)).json)
      .toEqual({ session_id: experiment })
    expect((await find(`kind=EXPERIMENT&id=${String(agent)}`)).status).toBe(404)
    expect((await find('kind=EVALUATOR')).status).toBe(404)
    expect((await find('kind=OTHER')).status).toBe(422)
  })

  it('of v2 come in pages that go on where the last one ended', async () => {
    const { send } = await platformDoor()
    const ids = new Map<string, string>()
    for (const name of ['a', 'b', 'c', 'd']) {
      const { json } = await send('POST', '/sessions', { name,
        ...name === 'd' && { reference_dataset_id: dataset } })
      ids.set(name, String(json['id']))
    }
    const page = async (query: string) => {
      const { json } = await send('GET', `/api/v2/sessions?sort_by=NAME&sort_order=asc&${query}`)
      const { items, next_cursor: cursor } = json as {
        readonly items: { readonly name: string; readonly type: string }[]
        readonly next_cursor: string | null
      }
      return { names: items.map(({ name }) => name), types: items.map(({ type }) => type), cursor }
    }
    const first = await page('page_size=2')
    expect(first.names).toEqual(['a', 'b'])
    await send('DELETE', `/sessions/${ids.get('a')}`)
    await send('DELETE', `/sessions/${ids.get('b')}`)
    const second = await page(`page_size=2&cursor=${first.cursor}`)
    expect(second).toMatchObject({ names: ['c', 'd'], types: ['PROJECT', 'EXPERIMENT'] })
    expect(await page(`page_size=2&cursor=${second.cursor}`)).toMatchObject({ names: [],
      cursor: null })
    expect((await page('type=EXPERIMENT')).names).toEqual(['d'])
    expect((await page('type=PROJECT')).names).toEqual(['c'])
    expect((await page('type=PROJECT&type=EXPERIMENT')).names).toEqual(['c', 'd'])
    expect(await send('GET', '/api/v2/sessions?cursor=x')).toMatchObject({ status: 400,
      json: { type: 'about:blank' } })
  })

  it('may have a name and an id that another tenant gave', async () => {
    const { send, as } = await platformDoor()
    const id = String((await send('POST', '/sessions', { name: 'one' })).json['id'])
    const other = await as('other')
    expect((await other('POST', '/sessions', { name: 'one' })).status).toBe(200)
    expect((await other('POST', '/sessions', { name: 'two', id })).status).toBe(200)
    expect((await send('GET', `/sessions/${id}`)).json).toMatchObject({ name: 'one' })
  })
})
