/** What a deployment lets through: so many requests in a time, and bodies of a length. */

import { randomUUID } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()
const control = '/control/v1/deployments'
const name = `limited-${randomUUID().slice(0, 8)}`

beforeAll(async () => {
  expect((await ask(server.url, 'POST', control, { name })).status).toBe(201)
})

afterAll(async () => {
  await ask(server.url, 'DELETE', `${control}/${name}?data=remove`)
})

const setLimits = async (limits: object) => {
  const { status, body } = await ask(server.url, 'PATCH', `${control}/${name}`, { limits })
  expect(status).toBe(200)
  return (body as { limits: object }).limits
}

/** Traces are kept without an active revision. */
const send = (body: string) =>
  fetch(`${server.url}/d/${name}/api/v1/runs/batch`, { method: 'POST', body })

describe('a deployment', () => {
  it('lets so many requests through, and then says when to come again', async () => {
    expect(await setLimits({ requests: { count: 2, interval_s: 600 } }))
      .toMatchObject({ body_mb: 25, requests: { count: 2, interval_s: 600 } })
    for (const left of [1, 0]) {
      const { status, headers } = await send('{"post":[]}')
      expect([status, headers.get('ratelimit'), headers.get('ratelimit-policy')])
        .toEqual([202, `"deployment";r=${left}`, '"deployment";q=2;w=600'])
    }
    const refused = await send('{"post":[]}')
    expect(refused.status).toBe(429)
    const after = Number(refused.headers.get('retry-after'))
    expect(after).toBeGreaterThan(500)
    expect(refused.headers.get('ratelimit')).toBe(`"deployment";r=0;t=${after}`)
    // Neither health checks nor the control API count, and they are not refused.
    expect((await ask(server.url, 'GET', `/d/${name}/ok`)).status).toBe(200)
    expect(await setLimits({ requests: null })).toMatchObject({ requests: null })
    expect((await send('{"post":[]}')).status).toBe(202)
  })

  it('takes bodies up to its limit', async () => {
    await setLimits({ body_mb: 1 })
    const body = (length: number) => JSON.stringify({ post: [], filler: 'x'.repeat(length) })
    expect((await send(body(1024 * 1024))).status).toBe(413)
    expect((await send(body(1024 * 1024 - 100))).status).toBe(202)
    await setLimits({ body_mb: 2 })
    expect((await send(body(1024 * 1024))).status).toBe(202)
  })

  it('has limits within bounds', async () => {
    for (const limits of [{ body_mb: 0 }, { body_mb: 26 }, { requests: 5 }, {
      requests: { count: 1 },
    }, { requests: { count: 0, interval_s: 1 } }, { requests: { count: 1, interval_s: 0.5 } }, {
      requests: { count: 1, interval_s: 86_401 },
    }, { requests: { count: 1_000_001, interval_s: 1 } }]) {
      const { status } = await ask(server.url, 'PATCH', `${control}/${name}`, { limits })
      expect([limits, status]).toEqual([limits, 422])
    }
  })
})
