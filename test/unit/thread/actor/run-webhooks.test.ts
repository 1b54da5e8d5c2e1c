/** Webhooks of runs: sent after the end is on disk, by the thread's owner, until settled. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { StartRun } from '../../../../src/thread/index.ts'
import { received } from '../../../support/scripted-egress.ts'
import type { SentCall } from '../../../support/scripted-egress.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

const url = 'https://example.org/hook'

function withWebhook(house: ThreadHouse, change: Partial<StartRun> = {},
  plan: Partial<StartRun['plan']> = {}): StartRun {
  const run = house.run(change)
  return { ...run, plan: { ...run.plan, webhook: url, ...plan } }
}

/** A finished run with a webhook; its id. */
async function ended(house: ThreadHouse, run = withWebhook(house)): Promise<string> {
  await house.client.startRun('t', 'x', run)
  await house.host.step(house.host.only, 'one')
  house.host.end(house.host.only)
  await settled()
  return run.runId
}

const only = (house: ThreadHouse): SentCall => {
  const [one, second] = house.egress.sent
  if (!one || second) throw new Error(`${house.egress.sent.length} calls were sent`)
  return one
}

const owed = async (house: ThreadHouse) => (await house.tables.threads.get('t', 'x'))?.owedWebhooks

describe('the webhook of a run', () => {
  it('is not sent before the end is on disk', async () => {
    const house = new ThreadHouse()
    await house.client.startRun('t', 'x', withWebhook(house))
    await house.host.step(house.host.only, 'one')
    expect(house.egress.sent).toEqual([])
    const disk = Promise.withResolvers<void>()
    house.log.gate = disk.promise
    house.host.end(house.host.only)
    await settled()
    expect(house.egress.sent).toEqual([])
    disk.resolve()
    await settled()
    expect(house.egress.sent).toHaveLength(1)
  })

  it('is tried again if our own store could not be read', async () => {
    const house = new ThreadHouse()
    await ended(house)
    const read = house.log.read.bind(house.log)
    house.log.read = () => Promise.reject(new HeddleError('unavailable', 'the store is away'))
    await expect(only(house).body()).rejects.toThrow('away')
    only(house).end({ kind: 'failed', reason: 'the store is away' })
    await settled()
    house.log.read = read
    house.env.advance(5_000)
    await settled()
    const [, again] = house.egress.sent
    expect(await again!.body()).toMatchObject({ status: 'success' })
    again!.end(received)
    await settled()
    expect(await owed(house)).toEqual([])
  })

  it('waits while the rules of its deployment are not known, and is sent after that', async () => {
    const house = new ThreadHouse()
    await ended(house)
    only(house).fail(new HeddleError('unavailable', 'The settings are not known.'))
    await settled()
    expect((await owed(house))?.length).toBe(1)
    house.env.advance(5_000)
    await settled()
    const [, again] = house.egress.sent
    again!.end(received)
    await settled()
    expect(await owed(house)).toEqual([])
  })

  it('is given up if its content can never be read', async () => {
    const house = new ThreadHouse()
    await ended(house)
    house.log.read = () => Promise.reject(new Error('a row that nobody understands'))
    await expect(only(house).body()).rejects.toThrow('nobody understands')
    only(house).end({ kind: 'failed', reason: 'a row that nobody understands' })
    await settled()
    expect(await owed(house)).toEqual([])
  })

  it('has the run, its times and its result', async () => {
    const house = new ThreadHouse()
    const run = withWebhook(house)
    await house.client.startRun('t', 'x', run)
    house.env.advance(1_000)
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only)
    await settled()
    house.env.advance(1_000)
    expect(only(house).call).toMatchObject({ method: 'POST', url, headers: {
      'content-type': 'application/json',
      'idempotency-key': run.runId,
      'x-heddle-delivery': run.runId,
    } })
    expect(await only(house).body()).toEqual({
      run_id: run.runId,
      status: 'success',
      values: { log: ['one'] },
      run_started_at: '2026-01-01T00:00:00.000+00:00',
      run_ended_at: '2026-01-01T00:00:01.000+00:00',
      webhook_sent_at: '2026-01-01T00:00:02.000+00:00',
    })
  })

  it('has the state at the end of the run, even if the thread has gone on', async () => {
    const house = new ThreadHouse()
    await ended(house)
    await house.runOnce('x', 'two')
    expect(await only(house).body()).toMatchObject({ values: { log: ['one'] } })
  })

  it('has the message of an error, and no start time if the run never began', async () => {
    const house = new ThreadHouse()
    await house.client.startRun('t', 'x', withWebhook(house))
    const waiting = withWebhook(house)
    await house.client.startRun('t', 'x', waiting)
    await house.client.cancelRun('t', 'x', waiting.runId, { action: 'interrupt' })
    house.host.end(house.host.only, { status: 'error',
      error: { error: 'TypeError', message: 'boom' } })
    await settled()
    const [cancelled, failed] = await Promise.all(house.egress.sent.map((one) => one.body()))
    expect(cancelled).toMatchObject({ status: 'interrupted', run_started_at: null })
    expect(failed).toMatchObject({ status: 'error', error: 'boom' })
  })

  it('does not delay the next run or answers of the thread', async () => {
    const house = new ThreadHouse()
    await ended(house)
    await house.startRun('x')
    expect(house.host.running.size).toBe(1)
    expect((await house.client.get('t', 'x')).row.status).toBe('busy')
  })

  it('is sent once, and recorded as settled', async () => {
    const house = new ThreadHouse()
    const runId = await ended(house)
    expect(await owed(house)).toEqual([runId])
    only(house).end(received)
    await settled()
    expect(await owed(house)).toEqual([])
    house.restart()
    await house.client.get('t', 'x')
    await settled()
    expect(house.egress.sent).toEqual([])
  })

  it.each([410, 304])('is given up with a line in the log if it answers %s', async (status) => {
    const house = new ThreadHouse()
    const runId = await ended(house)
    only(house).end({ kind: 'answered', status, body: '', cut: false })
    await settled()
    expect(await owed(house)).toEqual([])
    expect(house.env.lines).toContainEqual({ level: 'warn', message: 'A webhook was given up.',
      details: { tenant: 't', threadId: 'x', runId, reason: `it answered ${status}` } })
  })
})

describe('a webhook whose owner dies', () => {
  it('is sent by the next owner, as the same delivery', async () => {
    const house = new ThreadHouse()
    const runId = await ended(house)
    house.restart()
    expect(await house.tables.unfinished()).toMatchObject([{ threadId: 'x' }])
    await house.client.get('t', 'x')
    await settled()
    expect(only(house).call.headers).toMatchObject({ 'x-heddle-delivery': runId })
    expect(await only(house).body()).toMatchObject({ run_id: runId, values: { log: ['one'] } })
  })

  it('is tried only once more if it is old', async () => {
    const house = new ThreadHouse()
    await ended(house)
    expect(only(house).call.tries).toBeUndefined()
    house.env.advance(3_700_000)
    house.restart()
    await house.client.get('t', 'x')
    await settled()
    expect(only(house).call.tries).toBe(1)
  })

  it('is sent again after an internal failure', async () => {
    const house = new ThreadHouse()
    await ended(house)
    only(house).fail(new Error('no such table'))
    await settled()
    expect(await owed(house)).toHaveLength(1)
    house.env.advance(5_000)
    await settled()
    expect(house.egress.sent).toHaveLength(2)
  })
})

describe('a webhook', () => {
  it('is no longer sent if its run is deleted', async () => {
    const house = new ThreadHouse()
    const runId = await ended(house)
    await house.client.deleteRun('t', 'x', runId)
    expect(only(house).signal.aborted).toBe(true)
    expect(await only(house).body()).toBeUndefined()
    expect(await owed(house)).toEqual([])
  })

  it('is no longer sent if its thread is deleted', async () => {
    const house = new ThreadHouse()
    await ended(house)
    await house.client.delete('t', 'x')
    expect(only(house).signal.aborted).toBe(true)
  })

  it('is not owed by a copy of its thread', async () => {
    const house = new ThreadHouse()
    await ended(house)
    const copy = await house.client.copy('t', 'x')
    expect(copy.row.owedWebhooks).toEqual([])
    await settled()
    expect(house.egress.sent).toHaveLength(1)
  })
})

describe('the thread of a stateless run', () => {
  const stateless = async () => {
    const house = new ThreadHouse()
    await ended(house, withWebhook(house, { ifMissing: 'hidden' }, { temporary: true }))
    return house
  }

  it('stays until its webhook was sent, which has no state', async () => {
    const house = await stateless()
    house.env.advance(61_000)
    await settled()
    expect(await only(house).body()).not.toHaveProperty('values')
    only(house).end(received)
    await settled()
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
  })

  it('stays its minute for clients that come back, however soon the webhook was sent', async () => {
    const house = await stateless()
    only(house).end(received)
    await settled()
    expect((await house.client.get('t', 'x')).row.status).toBe('idle')
    house.env.advance(61_000)
    await settled()
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
  })
})

describe('a thread that owes too many webhooks', () => {
  it('gives up the oldest', async () => {
    const house = new ThreadHouse({ owedWebhooks: 2 })
    const first = await ended(house)
    await ended(house)
    await ended(house)
    expect(await owed(house)).toHaveLength(2)
    expect(await owed(house)).not.toContain(first)
    expect(house.egress.sent.map(({ signal }) => signal.aborted)).toEqual([true, false, false])
  })
})
