/** Feedback over HTTP: by callers, by anybody with a token, and what its scores mean. */

import { describe, expect, it } from 'vitest'

import { listIn, platformDoor } from './platform-door.ts'
import type { PlatformDoor } from './platform-door.ts'

const run = '22222222-2222-4222-8222-222222222222'
const other = '33333333-3333-4333-8333-333333333333'

async function valuesOf(name: string, answer: ReturnType<PlatformDoor['send']>) {
  return listIn(await answer).map((row) => row[name]).toSorted()
}

describe('feedback', () => {
  it('is given, read, changed and deleted', async () => {
    const { send } = await platformDoor()
    const body = { run_id: run, trace_id: null, key: 'k', score: 0.5, comment: 'c' }
    const given = await send('POST', '/feedback', body)
    expect(given).toMatchObject({ status: 200, json: { ...body, session_id: null } })
    const path = `/feedback/${String(given.json['id'])}`
    expect((await send('GET', path)).json).toEqual(given.json)
    expect((await send('PATCH', path, { score: 1, comment: null, key: 'x' })).json)
      .toMatchObject({ key: 'k', score: 1, comment: 'c' })
    expect((await send('PATCH', path, { score: 'high' })).status).toBe(422)
    expect((await send('DELETE', path)).status).toBe(200)
    for (const method of ['GET', 'DELETE']) expect((await send(method, path)).status).toBe(404)
    expect((await send('PATCH', path, {})).status).toBe(404)
    expect((await send('GET', '/feedback/no-uuid')).status).toBe(404)
    for (const wrong of [undefined, [], { key: 'k' }, { run_id: run }]) {
      expect((await send('POST', '/feedback', wrong)).status).toBe(422)
    }
  })

  it('replaces itself when it is sent again', async () => {
    const { send } = await platformDoor()
    for (const score of [0, 1]) {
      await send('POST', '/feedback', { id: other, run_id: run, key: 'k', score })
    }
    expect(listIn(await send('GET', `/feedback?run=${run}`))).toMatchObject([{ id: other,
      score: 1 }])
  })

  it('is listed by run, key, source and project', async () => {
    const { send } = await platformDoor()
    const made = async (name: string) =>
      String((await send('POST', '/sessions', { name })).json['id'])
    const [first, second] = [await made('one'), await made('two')]
    const give = (body: object) => send('POST', '/feedback', { run_id: run, ...body })
    await give({ key: 'a,b', feedback_source: { type: 'model' } })
    await give({ key: 'c', run_id: other, feedback_source: { type: 'api' } })
    await give({ key: 'd', run_id: null, session_id: first })
    await give({ key: 'e', run_id: null, session_id: second })
    const keys = (query: string) => valuesOf('key', send('GET', `/feedback?${query}`))
    expect(await keys(`run=${run}`)).toEqual(['a,b'])
    expect(await keys(`run=${run}&run=${other}`)).toEqual(['a,b', 'c'])
    expect(await keys('key=a%2Cb&key=d')).toEqual(['a,b', 'd'])
    expect(await keys(`session=${first}`)).toEqual(['d'])
    expect(await keys(`session=${first}&session=${second}`)).toEqual(['d', 'e'])
    expect(await keys(`run=${run}&run=${other}&source=api`)).toEqual(['c'])
    expect(await keys(`run=${run}&source=api`)).toEqual([])
    await send('DELETE', `/sessions/${first}`)
    expect(await keys(`session=${first}`)).toEqual([])
    expect((await give({ key: 'f', run_id: null, session_id: first })).status).toBe(404)
    expect((await give({ key: 'f', session_id: first })).status).toBe(404)
    expect((await send('GET', '/feedback?limit=101')).status).toBe(422)
  })

  it('may have an id that another tenant gave', async () => {
    const { send, as } = await platformDoor()
    const { json: { id } } = await send('POST', '/feedback', { run_id: run, key: 'k' })
    await (await as('other'))('POST', '/feedback', { id, run_id: run, key: 'mine' })
    expect((await send('GET', `/feedback/${String(id)}`)).json).toMatchObject({ key: 'k' })
  })
})

describe('a token', () => {
  it('lets anybody give one kind of feedback on one run', async () => {
    const { send, asNobody, url } = await platformDoor()
    const { json: token } = await send('POST', '/feedback/tokens', { run_id: run,
      feedback_key: 'thumb' })
    const link = String(token['url'])
    expect(link).toMatch(new RegExp(`^${url}/feedback/tokens/[\\da-f-]{36}$`))
    const { json: below } = await send('POST', '/api/v1/feedback/tokens', { run_id: run,
      feedback_key: 'thumb' })
    expect(below['url']).toContain(`${url}/api/v1/feedback/tokens/`)
    const path = link.slice(url.length)
    expect(
      (await asNobody('POST', path, { score: 1, run_id: other, key: 'x', metadata: { page: 'p' } }))
        .status,
    ).toBe(200)
    expect((await asNobody('GET', `${path}?score=false&comment=no`)).status).toBe(200)
    expect((await asNobody('GET', `${path}?score=0.25`)).status).toBe(200)
    expect((await asNobody('GET', `${path}?score=high`)).status).toBe(422)
    const rows = listIn(await send('GET', `/feedback?run=${run}`))
    expect(rows.map(({ key }) => key)).toEqual(['thumb', 'thumb', 'thumb'])
    expect(rows.map(({ score }) => score).map(String).toSorted()).toEqual(['0.25', '1', 'false'])
    expect(listIn(await send('GET', `/feedback?run=${run}&source=app`))).toHaveLength(3)
    expect((await asNobody('POST', '/feedback/tokens/nobody', { score: 1 })).status).toBe(404)
    expect((await asNobody('POST', '/feedback/tokens', {})).status).toBe(401)
  })

  it('is used up in the end, however many use it at once', async () => {
    const { send, asNobody, url } = await platformDoor()
    const tokens = await send('POST', '/feedback/tokens',
      ['a', 'a'].map((key) => ({ run_id: run, feedback_key: key })))
    const [path, other] = listIn(tokens).map((token) => String(token['url']).slice(url.length))
    const give = async (link: string, score: number) =>
      (await asNobody(score % 2 === 0 ? 'POST' : 'GET', `${link}?score=${score}`,
        score % 2 === 0 ? { score } : undefined)).status
    const statuses = await Promise.all(
      Array.from({ length: 24 }, (_, score) => give(path!, score)),
    )
    expect(statuses.toSorted()).toEqual([...Array.from({ length: 20 }, () => 200), 403, 403, 403,
      403])
    expect(await give(other!, 1)).toBe(200)
    const refused = await asNobody('GET', `${path}?score=1`)
    expect(refused.json.detail).toMatch(/used 20 times.*ask for another/)
    expect(listIn(await send('GET', `/feedback?run=${run}`))).toHaveLength(21)
  })

  it('is not known from a list', async () => {
    const { send, as } = await platformDoor()
    const made = await send('POST', '/feedback/tokens', [{ run_id: run, feedback_key: 'a' }, {
      run_id: run,
      feedback_key: 'b',
      expires_in: { minutes: 1 },
    }])
    expect(listIn(made)).toHaveLength(2)
    const listed = listIn(await send('GET', `/feedback/tokens?run_id=${run}`))
    expect(listed).toMatchObject([{ feedback_key: 'a', url: '' }, { feedback_key: 'b', url: '' }])
    expect(listIn(await send('GET', `/feedback/tokens?run_id=${run}&offset=2`))).toEqual([])
    expect(listIn(await (await as('other'))('GET', `/feedback/tokens?run_id=${run}`))).toEqual([])
    expect((await send('POST', '/feedback/tokens', { run_id: run })).status).toBe(422)
    expect((await send('POST', '/feedback/tokens', Array.from({ length: 101 }, () => ({})))).status)
      .toBe(413)
  })
})

describe('configurations of feedback', () => {
  it('are made, listed, changed and deleted by key', async () => {
    const { send, as } = await platformDoor()
    const body = { feedback_key: 'a,b', feedback_config: { type: 'continuous', min: 0, max: 1 } }
    expect((await send('POST', '/feedback-configs', body)).json)
      .toMatchObject({ ...body, is_lower_score_better: false })
    expect((await send('POST', '/feedback-configs', { ...body, is_lower_score_better: true }))
      .status).toBe(400)
    await send('POST', '/feedback', { run_id: run, key: 'k', feedbackConfig: { type: 'freeform' } })
    const keys = (query: string) =>
      valuesOf('feedback_key', send('GET', `/feedback-configs?${query}`))
    expect(await keys('limit=100')).toEqual(['a,b', 'k'])
    expect(await keys('key=a%2Cb&key=x')).toEqual(['a,b'])
    expect(await keys('name_contains=K')).toEqual(['k'])
    expect(
      (await send('PATCH', '/feedback-configs', { feedback_key: 'a,b',
        is_lower_score_better: true })).json,
    ).toMatchObject({ ...body, is_lower_score_better: true })
    // What is not said may be anything, and the order of members says nothing.
    const again = { feedback_key: 'a,b', feedback_config: { max: 1, min: 0, type: 'continuous' } }
    expect(await send('POST', '/feedback-configs', again))
      .toMatchObject({ status: 200, json: { is_lower_score_better: true } })
    expect((await send('POST', '/feedback-configs', { ...again, is_lower_score_better: false }))
      .status).toBe(400)
    const stranger = await as('other')
    expect(listIn(await stranger('GET', '/feedback-configs'))).toEqual([])
    expect((await stranger('PATCH', '/feedback-configs', body)).status).toBe(404)
    await stranger('DELETE', '/feedback-configs?feedback_key=k')
    expect((await send('DELETE', '/feedback-configs?feedback_key=a%2Cb')).status).toBe(204)
    expect(await keys('')).toEqual(['k'])
  })
})
