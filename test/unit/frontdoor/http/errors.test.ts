/** Errors over real HTTP: one format, the right status, and no internal details. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { ErrorCode } from '../../../../src/errors.ts'
import { dial, hear } from '../../../support/wire.ts'
import { call, openDoor } from '../open-front-door.ts'

const path = `/threads/${randomUUID()}`

describe('an error of the catalogue', () => {
  it.each([
    ['invalid', 422, null],
    ['not_found', 404, null],
    ['exists', 409, null],
    ['busy', 409, null],
    ['rejected', 422, null],
    ['too_large', 413, null],
    ['unsupported', 422, null],
    ['forbidden', 403, null],
    ['graph_failed', 422, null],
    ['full', 429, '1'],
    ['over_quota', 429, '1'],
    ['out_of_quota', 507, null],
    ['not_owner', 503, '1'],
    ['unavailable', 503, '1'],
  ] as const)('%s is answered with %i, Retry-After %s', async (code: ErrorCode, status, after) => {
    const door = await openDoor()
    door.threads.failure = new HeddleError(code, 'The sentence.', { secret: 1 })
    const answer = await call(door, 'GET', path)
    expect(answer.status).toBe(status)
    expect(answer.json).toEqual({ detail: 'The sentence.', message: 'The sentence.', code })
    expect(answer.headers.get('retry-after')).toBe(after)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  })
})

describe('an unexpected error', () => {
  it('reveals nothing to the client and is logged in full', async () => {
    const door = await openDoor()
    const failure = new TypeError('the password is hunter2')
    door.threads.failure = failure
    const answer = await call(door, 'GET', `${path}?token=secret`)
    expect(answer.status).toBe(500)
    expect(answer.text).not.toMatch(/hunter2|TypeError/)
    expect(door.env.lines.filter(({ level }) => level !== 'debug')).toMatchObject([{
      level: 'error',
      details: { error: failure, method: 'GET', route: '/threads/:thread_id' },
    }])
    expect(JSON.stringify(door.env.lines)).not.toContain('token')
  })

  it('and every other answer is what it says it is, and is not guessed', async () => {
    const door = await openDoor()
    door.threads.failure = new Error('x')
    for (const [method, at] of [['GET', path], ['GET', '/ok'], ['GET', '/openapi.json'], ['GET',
      '/nowhere'], ['POST', '/assistants/search'], ['OPTIONS', '/threads'], ['GET', `/threads/%ZZ`],
      ['POST', '/frontdoor.v1.ThreadService/GetThread'], ['POST',
      `${path}/stream/events`]] as const) {
      const { headers } = await call(door, method, at, method === 'POST' ? {} : undefined)
      expect([at, headers.get('x-content-type-options')]).toEqual([at, 'nosniff'])
    }
    const socket = await dial(door.url)
    socket.write('no HTTP\r\n\r\n')
    expect(await hear(socket)).toContain('X-Content-Type-Options: nosniff')
  })

  it('does not disturb the next request', async () => {
    const door = await openDoor()
    door.threads.failure = new Error('x')
    await call(door, 'GET', path)
    expect((await call(door, 'GET', '/ok')).status).toBe(200)
  })
})

describe('a path without a route', () => {
  it.each([['GET', '/nosuch'], ['PUT', '/threads/'], ['POST', '/threads/a/b/c/d'], ['POST',
    '/internal/truncate'], ['POST', '/internal/cluster'], ['PUT', '/metrics']])(
      'is answered 404 with a sentence: %s %s',
      async (method, at) => {
        const answer = await call(await openDoor(), method, at, method === 'GET' ? undefined : {})
        expect(answer.status).toBe(404)
        expect(answer.json.message).toBe(`There is no ${method} ${at}; /docs lists what there is.`)
      },
    )

  it.each([['PUT', '/threads', 'POST'], ['POST', path, 'GET, PATCH, DELETE'], ['PUT', '/ok',
    'GET, HEAD'], ['DELETE', '/runs/wait?x=1', 'POST']])(
      'is answered 405 if it has a route by another method: %s %s',
      async (method, at, allow) => {
        const { status, headers, json } = await call(await openDoor(), method, at)
        expect([status, headers.get('allow')]).toEqual([405, allow])
        expect(json).toMatchObject({ code: 'wrong_method',
          message: `There is no ${method} ${at.split('?')[0]}: it takes ${allow}.` })
      },
    )

  it.each(['/threads/not-a-uuid', '/threads/%00', '/threads/a%2Fb', `${path}/runs/not-a-uuid`,
    `${path}/state/not-a-uuid`])('is 422 if an id is malformed: %s', async (at) => {
      const answer = await call(await openDoor(), 'GET', at)
      expect([answer.status, answer.json.code]).toEqual([422, 'invalid'])
    })

  it('is 400 if an id has escaped slashes beside dots', async () => {
    const answer = await call(await openDoor(), 'GET', '/threads/..%2F..%2Fetc')
    expect([answer.status, answer.json.code]).toEqual([400, 'malformed'])
  })

  it('is taken literally if it cannot be decoded', async () => {
    const answer = await call(await openDoor(), 'GET', '/threads/%E0%A4%A')
    expect([answer.status, answer.json.code]).toEqual([422, 'invalid'])
  })
})

describe('a malformed HTTP request', () => {
  it.each([
    ['FOO / HTTP/1.1\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('is answered with a sentence as well: %.20s', async (request, status) => {
    const { url } = await openDoor()
    const socket = await dial(url)
    socket.write(request)
    const answer = await hear(socket)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    const body = JSON.parse(answer.slice(answer.indexOf('{'))) as Record<string, unknown>
    expect(body).toEqual({ detail: body.message, message: expect.stringMatching(/^T.*\.$/),
      code: 'malformed' })
  })
})

describe('a field that would have no effect', () => {
  it.each([
    ['POST', '/runs/crons', { assistant_id: 'agent', schedule: '* * * * *', feedback_keys: ['a'] },
      'feedback_keys'],
  ] as const)('is refused: %s %s', async (method, at, body, field) => {
    const answer = await call(await openDoor(), method, at, body)
    expect([answer.status, answer.json.code]).toEqual([422, 'unsupported'])
    expect(answer.json.errors).toEqual([{ field, message: 'is not supported' }])
  })
})
