/** Requests of every kind, for a server whose store is out of reach. */

import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { say } from '../../support/run-events.ts'
import { allowedMs } from '../../support/stillness.ts'
import { ask } from '../../support/wire.ts'

/** The longest that a request that wrote nothing may wait for its answer. */
export const answerMs = 3_000

/** Ids of two threads: `warm` was used recently, `cold` was not. */
export interface KnownThreads {
  readonly warm: string
  readonly cold: string
}

type Question = readonly [method: string, path: string, body?: unknown]

/** Once the store is gone nothing is read any more, not even threads that are being written. */
export async function expectNothingIsRead(url: string, ids: readonly string[]): Promise<void> {
  await expectRefusals(url, ids.flatMap((id): Question[] => [
    ['GET', `/threads/${id}`],
    ['GET', `/threads/${id}/state`],
    ['GET', `/threads/${id}/runs`],
  ]))
}

/** Every kind of request is answered 503, in time and with a sentence. */
export async function expectNothingIsServed(url: string,
  { warm, cold }: KnownThreads): Promise<void> {
  const said = { assistant_id: 'echo', input: say('nobody hears this') }
  await expectRefusals(url, [
    ['POST', '/threads', {}],
    ['POST', '/threads', { thread_id: randomUUID(), if_exists: 'do_nothing' }],
    ['POST', '/threads/search', {}],
    ['POST', '/threads/count', {}],
    ['POST', '/runs/wait', said],
    ['POST', '/runs/stream', said],
    ['POST', '/assistants', { graph_id: 'echo' }],
    ['POST', '/assistants/search', {}],
    ...[warm, cold].flatMap((id): Question[] => [
      ['GET', `/threads/${id}`],
      ['GET', `/threads/${id}/state`],
      ['GET', `/threads/${id}/history`],
      ['GET', `/threads/${id}/runs`],
      ['PATCH', `/threads/${id}`, { metadata: { received: true } }],
      ['POST', `/threads/${id}/state`, { values: say('nobody hears this') }],
      ['POST', `/threads/${id}/runs`, said],
      ['POST', `/threads/${id}/runs/wait`, said],
      ['POST', `/threads/${id}/runs/stream`, said],
      ['POST', `/threads/${id}/copy`],
      ['DELETE', `/threads/${id}`],
    ]),
  ])
}

async function expectRefusals(url: string, questions: readonly Question[]): Promise<void> {
  await Promise.all(questions.map(async ([method, path, body]) => {
    const began = performance.now()
    const { status, headers, body: seen } = await ask(url, method, path, body)
    const answered = performance.now()
    expect({ status, retry: headers.get('retry-after') }, `${method} ${path}`)
      .toEqual({ status: 503, retry: '1' })
    expect(seen, `${method} ${path}`)
      .toMatchObject({ code: 'unavailable', message: expect.stringMatching(/^[A-Z].+\.$/) })
    expect(answered - began, `${method} ${path}`)
      .toBeLessThan(allowedMs(answerMs, began, answered))
  }))
}

/** Plain `/ok` is about the server; with `check_db` it is about the store as well. */
export async function expectStoreIsMissed(url: string): Promise<void> {
  const began = performance.now()
  const [plain, checked] = await Promise.all(
    [ask(url, 'GET', '/ok'), ask(url, 'GET', '/ok?check_db=1')],
  )
  const answered = performance.now()
  expect(answered - began).toBeLessThan(allowedMs(answerMs, began, answered))
  expect(plain.status).toBe(200)
  expect(checked).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect(checked.headers.get('retry-after')).toBe('1')
  expect(checked.body).toMatchObject({ message: expect.stringContaining('Cassandra') })
}
