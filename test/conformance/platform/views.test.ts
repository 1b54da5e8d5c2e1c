/** Saved views of a real server: they come back as they were sent, page by page, and only there. */

import { randomUUID } from 'node:crypto'

import { beforeAll, expect, it } from 'vitest'

import { openKeyMaker } from '../../support/keys.ts'
import { useServer } from '../../support/server.ts'
import { ask, messageOf } from '../../support/wire.ts'

const server = useServer('keys')
let [owner, stranger] = ['', '']

beforeAll(async () => {
  const maker = await openKeyMaker(server.place)
  owner = await maker.make(`of-views-${randomUUID()}`)
  stranger = await maker.make(`of-others-${randomUUID()}`)
  await maker.close()
})

interface Named {
  readonly id: string
  readonly display_name: string
}

const send = (method: string, path: string, body?: object, key = owner) =>
  ask(server.url, method, `/api/v1${path}`, body, { 'x-api-key': key })

async function project(name: string, key = owner): Promise<string> {
  const { body } = await send('POST', '/sessions', { name }, key)
  return `/sessions/${(body as Named).id}`
}

const fields = { display_name: 'Slow', description: 'd', filter_string: 'gt(latency, 2)',
  trace_filter_string: 'eq(name, "a")', tree_filter_string: 'eq(run_type, "llm")', type: 'runs' }

it('A view comes back as it was sent, is changed member by member, and goes', async () => {
  const path = await project('whole')
  const { status, body } = await send('POST', `${path}/views`, { ...fields, duration: '7d',
    unknown: 1 })
  expect(status).toBe(200)
  expect(body).toEqual({ ...fields, duration: '7d', start_time: null, end_time: null,
    id: expect.any(String) as string, session_id: path.slice('/sessions/'.length),
    created_at: expect.stringMatching(/^2\d{3}-.*T/) as string,
    updated_at: expect.stringMatching(/^2\d{3}-.*T/) as string })
  const view = `${path}/views/${(body as Named).id}`
  expect((await send('GET', view)).body).toEqual(body)
  expect((await send('PATCH', view, { display_name: null, filter_string: null, type: 'threads' }))
    .body).toMatchObject({ ...fields, filter_string: null, type: 'threads' })
  expect((await send('GET', view)).body).toMatchObject({ display_name: 'Slow', type: 'threads' })
  expect((await send('GET', `${path}/views?type=threads`)).body).toHaveLength(1)
  expect((await send('GET', `${path}/views?type=runs`)).body).toEqual([])
  expect((await send('DELETE', view)).status).toBe(200)
  for (const method of ['GET', 'DELETE']) expect((await send(method, view)).status).toBe(404)
})

it('What nobody could ask with is refused, and so is a view too many', async () => {
  const path = `${await project('bounded')}/views`
  for (const wrong of [{}, { display_name: '' }, { display_name: null }, { ...fields,
    type: 'other' }, { ...fields, filter_string: 'gt(latency' }, { ...fields,
    trace_filter_string: 'eq(nothing, 1)' }, { ...fields, tree_filter_string: '(' }, { ...fields,
    start_time: 'soon' }, { ...fields, display_name: 'x'.repeat(1_001) }]) {
    expect((await send('POST', path, wrong)).status, JSON.stringify(wrong)).toBe(422)
  }
  const [first] = await Promise.all(
    Array.from({ length: 100 }, () => send('POST', path, { display_name: 'v' })),
  )
  const view = `${path}/${(first!.body as Named).id}`
  const refused = await send('PATCH', view, { filter_string: 'eq(' })
  expect([refused.status, messageOf(refused)]).toEqual([422, expect.stringMatching(/^filter_str/)])
  const full = await send('POST', path, { display_name: 'v' })
  expect([full.status, messageOf(full)]).toEqual([429, expect.stringContaining('100 views')])
})

it('A list has pages, and is of one project of one tenant', async () => {
  const [path, other, theirs] = [await project('paged'), await project('other'),
    await project('paged', stranger)]
  for (const name of ['a', 'b', 'c']) await send('POST', `${path}/views`, { display_name: name })
  const all = await send('GET', `${path}/views`)
  const names = (all.body as readonly Named[]).map((each) => each.display_name)
  expect(names.toSorted()).toEqual(['a', 'b', 'c'])
  expect(all.headers.get('x-pagination-total')).toBe('3')
  const page = await send('GET', `${path}/views?limit=2&offset=1`)
  expect(page.body).toEqual((all.body as readonly Named[]).slice(1))
  expect((await send('GET', `${path}/views?limit=101`)).status).toBe(422)
  const { id } = (all.body as readonly Named[])[0]!
  expect((await send('GET', `${other}/views`)).body).toEqual([])
  for (const [at, key] of [[other, owner], [theirs, stranger], [path, stranger]] as const) {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? {} : undefined
      expect((await send(method, `${at}/views/${id}`, body, key)).status).toBe(404)
    }
  }
  expect((await send('POST', `${path}/views`, { display_name: 'x' }, stranger)).status).toBe(404)
  expect((await send('GET', `${path}/views`)).body).toEqual(all.body)
})

it('Views go with their project', async () => {
  const path = await project('gone')
  const { body } = await send('POST', `${path}/views`, fields)
  expect((await send('DELETE', path)).status).toBe(202)
  expect((await send('GET', `${path}/views`)).status).toBe(404)
  // No other project gets its id.
  const again = { id: path.slice('/sessions/'.length), name: 'new' }
  expect((await send('POST', '/sessions', again)).status).toBe(409)
  expect((await send('GET', `${path}/views/${(body as Named).id}`)).status).toBe(404)
})
