/** What workers send as traces: whom it is written for, and what they are answered. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { isSampled } from '../../../../src/graph/engine/trace-sample.ts'
import { isWorkerMail } from '../../../../src/graph/pool/mail-check.ts'
import { TraceIntake } from '../../../../src/graph/pool/trace-intake.ts'
import type { WorkerLink } from '../../../../src/graph/pool/worker-link.ts'
import type { ToWorker } from '../../../../src/graph/pool/worker-mail.ts'
import { virtualEnv } from '../../../support/env.ts'

function linkServing(...tenants: readonly string[]) {
  const posted: ToWorker[] = []
  const link = { state: 'ready', post: (mail: ToWorker) => posted.push(mail),
    hasServed: (tenant: string) => tenants.includes(tenant) }
  return { link: link as unknown as WorkerLink, posted }
}

const bodyOf = (tenant: string, tracing = 1) =>
  ({ type: 'trace', tracing, tenant, form: 'batch', contentType: 'application/json',
    body: new Uint8Array([123, 125]) }) as const

it('writes for tenants whose runs the worker got, and says what became of it', async () => {
  const { link, posted } = linkServing('acme')
  const intake = new TraceIntake()
  const written: string[] = []
  intake.mail(link, bodyOf('acme', 1))
  intake.writeWith(async ({ tenant, body }) => {
    written.push(tenant)
    if (body.byteLength > 2) throw new HeddleError('too_large', 'Too much.')
  })
  intake.mail(link, bodyOf('acme', 2))
  intake.mail(link, bodyOf('other', 3))
  intake.mail(link, { ...bodyOf('acme', 4), body: new Uint8Array(3) })
  await expect.poll(() => posted.length).toBe(4)
  expect(
    Object.fromEntries(
      posted.map((mail) => mail.type === 'traced' ? [mail.tracing, mail.status] : []),
    ),
  ).toEqual({ 1: 503, 2: 202, 3: 403, 4: 413 })
  expect(written).toEqual(['acme', 'acme'])
})

it('waits for flushes of workers, but not of one that has ended nor beyond the time', async () => {
  const [one, two] = [linkServing(), linkServing()]
  const intake = new TraceIntake()
  const flushed = intake.flush([one.link, two.link], new AbortController().signal)
  expect([one.posted, two.posted]).toEqual([[{ type: 'flush' }], [{ type: 'flush' }]])
  intake.mail(one.link, { type: 'flushed' })
  intake.ended(two.link)
  await flushed
  const late = new AbortController()
  const unfinished = intake.flush([one.link], late.signal)
  late.abort()
  await unfinished
})

it('hands over once for each caller, and for three seconds at most', async () => {
  const { link, posted } = linkServing()
  const env = virtualEnv()
  const intake = new TraceIntake()
  const done: string[] = []
  const first = intake.handOver([link], env).then(() => void done.push('first'))
  const second = intake.handOver([link], env).then(() => void done.push('second'))
  expect(posted).toEqual([{ type: 'flush' }, { type: 'flush' }])
  intake.mail(link, { type: 'flushed' })
  await first
  expect(done).toEqual(['first'])
  env.advance(2_999)
  expect(env.timers()).toBe(1)
  env.advance(1)
  await second
  expect(env.timers()).toBe(0)
})

it('takes only bodies that are whole messages', () => {
  expect(isWorkerMail(bodyOf('acme'))).toBe(true)
  for (const wrong of [{ tenant: 5 }, { body: '{}' }, { form: 'otlp' }, { tracing: null }]) {
    expect(isWorkerMail({ ...bodyOf('acme'), ...wrong })).toBe(false)
  }
})

it('samples the share of runs that is asked for', () => {
  const ids = Array.from({ length: 4_000 }, () => crypto.randomUUID())
  const share = (ratio: number) => ids.filter((id) => isSampled(id, ratio)).length / ids.length
  expect([share(0), share(1)]).toEqual([0, 1])
  expect(Math.abs(share(0.25) - 0.25)).toBeLessThan(0.05)
})
