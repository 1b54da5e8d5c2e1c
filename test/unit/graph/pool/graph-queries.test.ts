/** Questions to workers: who else is asked if no answer comes, and when they are given up. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { GraphQueries } from '../../../../src/graph/pool/graph-queries.ts'
import type { WorkerLink } from '../../../../src/graph/pool/worker-link.ts'
import type { ToWorker } from '../../../../src/graph/pool/worker-mail.ts'
import type { WorkerPool } from '../../../../src/graph/pool/worker-pool.ts'
import { virtualEnv } from '../../../support/env.ts'

/** A worker that keeps what it gets and sends nothing. */
function worker({ silentMs = 0 } = {}) {
  const received: ToWorker[] = []
  return { executions: 0, silentMs, received, post: (mail: ToWorker) => {
    received.push(mail)
  } }
}

it('A question goes to a worker that was silent as soon as that answers pings again.', async () => {
  const [spinner, waking] = [worker(), worker({ silentMs: 2_000 })]
  const env = virtualEnv()
  const pool = { members: [spinner, waking] as unknown as WorkerLink[] } as WorkerPool
  let jobs = 0
  const queries = new GraphQueries(env, pool, () => ++jobs)
  const answer = queries.ask({ kind: 'schemas', graphId: 'g' })
  env.advance(250)
  expect([spinner.received.length, waking.received.length]).toEqual([1, 0])
  waking.silentMs = 0
  queries.pump()
  expect(waking.received).toMatchObject([{ type: 'inquire', job: 2 }])
  queries.mail(waking as unknown as WorkerLink, { type: 'answer', job: 2,
    result: { value: 'told' } })
  expect(await answer).toBe('told')
  queries.pump()
  expect([spinner.received.at(-1), spinner.received.length, waking.received.length])
    .toEqual([{ type: 'abort', job: 1 }, 2, 1])
})

it('A question that nobody waits for ends, also in its worker.', async () => {
  const [busy] = [worker()]
  const env = virtualEnv()
  const pool = { members: [busy] as unknown as WorkerLink[] } as WorkerPool
  const queries = new GraphQueries(env, pool, () => 1)
  const left = new AbortController()
  const asked = queries.ask({ kind: 'schemas', graphId: 'g' }, undefined, left.signal)
  left.abort(new HeddleError('unavailable', 'The caller has left.'))
  await expect(asked).rejects.toMatchObject({ message: 'The caller has left.' })
  expect(busy.received.at(-1)).toEqual({ type: 'abort', job: 1 })
  expect([queries.sourceOf(busy as unknown as WorkerLink, 1), env.timers()]).toEqual([undefined, 0])
  await expect(queries.ask({ kind: 'schemas', graphId: 'g' }, undefined, left.signal)).rejects
    .toMatchObject({ message: 'The caller has left.' })
  expect(busy.received).toHaveLength(2)
})

it.each([['waits for a read', false], ['has got a large state', true]])(
  'A question whose worker %s goes to another one later.',
  (_, isRead) => {
    const [reader, idle] = [worker(), worker()]
    const env = virtualEnv()
    const pool = { members: [reader, idle] as unknown as WorkerLink[] } as WorkerPool
    let jobs = 0
    const queries = new GraphQueries(env, pool, () => ++jobs)
    void queries.ask({ kind: 'schemas', graphId: 'g' }).catch(() => {})
    const done = queries.noteRead(reader as unknown as WorkerLink, 1)
    if (isRead) done(2 * 1024 * 1024)
    env.advance(250)
    expect(idle.received).toEqual([])
    env.advance(5_000)
    expect(idle.received).toMatchObject([{ type: 'inquire', job: 2 }])
    queries.close()
  },
)

it('A question is refused once three workers have died over it.', async () => {
  const members = [worker(), worker(), worker(), worker()]
  const pool = { members: members as unknown as WorkerLink[] } as WorkerPool
  let jobs = 0
  const env = virtualEnv()
  const queries = new GraphQueries(env, pool, () => ++jobs)
  const answer = expect(queries.ask({ kind: 'schemas', graphId: 'g' })).rejects
    .toMatchObject({ code: 'unavailable', message: expect.stringContaining('died') as string })
  for (let deaths = 0; deaths < 3; deaths++) queries.ended(pool.members.shift()!)
  await answer
  expect([members[0]!.received.length, jobs, env.timers()]).toEqual([0, 3, 0])
})

it('Texts are embedded by one worker only, and given up after 10 s.', async () => {
  const members = [worker(), worker()]
  const pool = { members: members as unknown as WorkerLink[] } as WorkerPool
  let jobs = 0
  const env = virtualEnv()
  const queries = new GraphQueries(env, pool, () => ++jobs)
  const asked = queries.ask({ kind: 'embed', texts: ['a'], textKind: 'query' })
  env.advance(9_999)
  expect(jobs).toBe(1)
  env.advance(1)
  await expect(asked).rejects.toMatchObject({ code: 'unavailable',
    message: expect.stringContaining('store.index.embed did not answer in 10') as string })
  expect(env.timers()).toBe(0)
})

it('A question is given up after 30 s, with the name of the graph and when to retry.', async () => {
  const env = virtualEnv()
  const nobody = { members: [] } as unknown as WorkerPool
  const asked = new GraphQueries(env, nobody, () => 1).ask({ kind: 'schemas', graphId: 'slow' })
  env.advance(30_000)
  await expect(asked).rejects.toMatchObject(
    { code: 'unavailable', details: { retryAfterSeconds: 30 },
      message: expect.stringContaining('Graph "slow" did not answer in 30 seconds') as string },
  )
  expect(env.timers()).toBe(0)
})
