/** Questions to workers: who else is asked if no answer comes, and when they are given up. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { InquiryDesk } from '../../../../src/graph/pool/graph-queries.ts'
import type { WorkerLink } from '../../../../src/graph/pool/worker-link.ts'
import type { ToWorker } from '../../../../src/graph/pool/worker-mail.ts'
import type { WorkerPool } from '../../../../src/graph/pool/worker-pool.ts'
import { virtualEnv } from '../../../support/env.ts'

/** A worker that keeps what it gets and sends nothing. */
function worker({ silentMs = 0 } = {}) {
  const heard: ToWorker[] = []
  return { executions: 0, silentMs, heard, post: (mail: ToWorker) => { heard.push(mail) } }
}

it('A question goes to a worker that was silent as soon as that answers pings again.', async () => {
  const [spinner, waking] = [worker(), worker({ silentMs: 2_000 })]
  const env = virtualEnv()
  const pool = { members: [spinner, waking] as unknown as WorkerLink[] } as WorkerPool
  let jobs = 0
  const desk = new InquiryDesk(env, pool, () => ++jobs)
  const answer = desk.ask({ kind: 'schemas', graphId: 'g' })
  env.advance(250)
  expect([spinner.heard.length, waking.heard.length]).toEqual([1, 0])
  waking.silentMs = 0
  desk.pump()
  expect(waking.heard).toMatchObject([{ type: 'inquire', job: 2 }])
  desk.mail(waking as unknown as WorkerLink, { type: 'answer', job: 2, result: { value: 'told' } })
  expect(await answer).toBe('told')
  desk.pump()
  expect([spinner.heard.at(-1), spinner.heard.length, waking.heard.length])
    .toEqual([{ type: 'abort', job: 1 }, 2, 1])
})

it('A question that nobody waits for ends, also in its worker.', async () => {
  const [busy] = [worker()]
  const env = virtualEnv()
  const pool = { members: [busy] as unknown as WorkerLink[] } as WorkerPool
  const desk = new InquiryDesk(env, pool, () => 1)
  const left = new AbortController()
  const asked = desk.ask({ kind: 'schemas', graphId: 'g' }, undefined, left.signal)
  left.abort(new HeddleError('unavailable', 'The caller has left.'))
  await expect(asked).rejects.toMatchObject({ message: 'The caller has left.' })
  expect(busy.heard.at(-1)).toEqual({ type: 'abort', job: 1 })
  expect([desk.sourceOf(busy as unknown as WorkerLink, 1), env.timers()]).toEqual([undefined, 0])
  await expect(desk.ask({ kind: 'schemas', graphId: 'g' }, undefined, left.signal)).rejects
    .toMatchObject({ message: 'The caller has left.' })
  expect(busy.heard).toHaveLength(2)
})

it.each([['waits for a read', false], ['has got a large state', true]])(
  'A question whose worker %s goes to another one later.', (_, isRead) => {
    const [reader, idle] = [worker(), worker()]
    const env = virtualEnv()
    const pool = { members: [reader, idle] as unknown as WorkerLink[] } as WorkerPool
    let jobs = 0
    const desk = new InquiryDesk(env, pool, () => ++jobs)
    void desk.ask({ kind: 'schemas', graphId: 'g' }).catch(() => {})
    const done = desk.noteRead(reader as unknown as WorkerLink, 1)
    if (isRead) done(2 * 1024 * 1024)
    env.advance(250)
    expect(idle.heard).toEqual([])
    env.advance(5_000)
    expect(idle.heard).toMatchObject([{ type: 'inquire', job: 2 }])
    desk.close()
  })

it('A question is refused once three workers have died over it.', async () => {
  const members = [worker(), worker(), worker(), worker()]
  const pool = { members: members as unknown as WorkerLink[] } as WorkerPool
  let jobs = 0
  const env = virtualEnv()
  const desk = new InquiryDesk(env, pool, () => ++jobs)
  const answer = expect(desk.ask({ kind: 'schemas', graphId: 'g' })).rejects
    .toMatchObject({ code: 'unavailable', message: expect.stringContaining('died') as string })
  for (let deaths = 0; deaths < 3; deaths++) desk.ended(pool.members.shift()!)
  await answer
  expect([members[0]!.heard.length, jobs, env.timers()]).toEqual([0, 3, 0])
})

it('A question is given up after 30 s, with the name of the graph and when to retry.', async () => {
  const env = virtualEnv()
  const nobody = { members: [] } as unknown as WorkerPool
  const asked = new InquiryDesk(env, nobody, () => 1).ask({ kind: 'schemas', graphId: 'slow' })
  env.advance(30_000)
  await expect(asked).rejects.toMatchObject({ code: 'unavailable', facts: { retryAfterSeconds: 30 },
    message: expect.stringContaining('Graph "slow" did not answer in 30 seconds') as string })
  expect(env.timers()).toBe(0)
})
