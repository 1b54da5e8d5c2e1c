/** Each route of the platform falls under its row of the specification's table. */

import { beforeAll, describe, expect, it } from 'vitest'
import { limitVectors, vectorId } from '../../support/limit-vectors.ts'
import type { Shown } from '../../support/limit-vectors.ts'
import { useServer } from '../../support/server.ts'

const server = useServer({ project: 'telling',
  args: ['--region', 'us', '--platform-port', '0', '--own-traces', 'off'] })
let platformUrl: string

beforeAll(() => {
  platformUrl = /"traces":"(http[^"]+)"/.exec(server.process.output())![1]!
})

/** The limit that a request was charged to, as its answer says. */
async function chargedTo(url: string, method: string, shown: Shown): Promise<string> {
  const answer = await fetch(url, { method, headers: {
    ...shown.key && { 'x-api-key': 'somebody' },
    ...shown.user && { 'x-user-id': 'somebody' },
  } })
  await answer.arrayBuffer()
  expect(answer.status).not.toBe(500)
  return answer.headers.get('ratelimit-policy') ?? `nothing, and ${answer.status}`
}

describe.each(limitVectors)('%s %s with %o', (method, target, shown, name, limit) => {
  const [count, seconds] = limit.split('/')
  const policy = `"${name}";q=${count};w=${seconds}`

  it('is charged to its row at the platform port', async () => {
    expect(await chargedTo(platformUrl + target, method, shown)).toBe(policy)
  })

  it('is charged to its row below /api', async () => {
    expect(await chargedTo(`${server.url}/api${target.replace(/^\/api/, '')}`, method, shown))
      .toBe(policy)
  })
})

it('Requests to a deployment are charged as before, at the main port', async () => {
  expect(await chargedTo(`${server.url}/runs`, 'POST', { key: true })).toMatch(/^"default-key"/)
  expect(await chargedTo(`${server.url}/threads/${vectorId}/runs`, 'POST', { key: true }))
    .toMatch(/^"default-key"/)
})
