/** Threads of stateless runs that stay for a client who answers a question, or comes back. */

import { describe, expect, it } from 'vitest'

import type { StartRun } from '../../../../src/thread/index.ts'
import { updates } from '../../../support/scripted-host.ts'
import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'

const minuteMs = 60_000
const asking = { waiting: true, interrupts: '{"t":[{"id":"i","value":"?"}]}' } as const
const found = { tenant: 't', sortBy: 'created_at', sortOrder: 'desc', limit: 9, offset: 0 } as const

/** A run whose thread may be kept for an hour, as the front door asks for it. */
function keepable(changes: Partial<StartRun> = {}): StartRun {
  const run = aRun('x', { ifMissing: 'hidden', awaited: true, metadata: { of: 'a call' },
    ...changes })
  return { ...run, plan: { ...run.plan, temporary: true, keptMinutes: 60 } }
}

async function begun(house = new ThreadHouse()) {
  const left = new AbortController()
  const { result } = await house.client.startAndWait('t', 'x', keepable())
  const answer = result(left.signal)
  answer.catch(() => {})
  await house.host.step(house.host.only, 'one', [updates('1')])
  await settled()
  return { house, answer, left }
}

async function pass(house: ThreadHouse, minutes: number): Promise<void> {
  house.env.advance(minutes * minuteMs)
  for (let n = 0; n < 3; n++) await settled()
}

const listed = async ({ client }: ThreadHouse) => {
  const { threads } = await client.search(found, ({ row }) => row.threadId)
  return threads
}

describe('the thread of a run that may ask', () => {
  it.each([false, true])('leaves nothing on disk once it is discarded (%s)', async (shared) => {
    const house = new ThreadHouse()
    house.log.shared = shared
    house.billing = false
    house.restart()
    const { answer } = await begun(house)
    house.host.end(house.host.only)
    expect(await answer).toBe('{"log":["one"]}')
    await settled()
    await house.client.discard('t', 'x')
    await settled()
    expect([house.log.rows, house.log.updates, house.log.purged]).toEqual([[], [], []])
    expect([house.activations.size, house.heldRuns.countOf('t')]).toEqual([0, 0])
    await house.client.discard('t', 'x')
  })

  it('is removed with its run if it is discarded before that', async () => {
    const { house, answer } = await begun()
    await house.client.discard('t', 'x')
    await expect(answer).rejects.toThrow(/deleted|not found/)
    await pass(house, 2)
    expect([house.activations.size, house.log.purged.length]).toEqual([0, 1])
  })

  it('stays and is listed when the run asks, for an hour, whatever crashes', async () => {
    const { house, answer } = await begun()
    expect(await listed(house)).toEqual([])
    await pass(house, 30)
    house.host.end(house.host.only, asking)
    expect(JSON.parse(await answer)).toMatchObject({ __interrupt__: [{ value: '?' }] })
    // As the front door does before it asks.
    await house.client.patch('t', 'x', {})
    house.restart()
    expect(await listed(house)).toEqual(['x'])
    await pass(house, 59)
    const { row } = await house.client.get('t', 'x')
    expect(row).toMatchObject({ hidden: false, status: 'interrupted' })
    expect(JSON.parse(row.metadataJson)).toMatchObject({ of: 'a call' })
    await house.startRun('x', { ifMissing: 'reject', kwargs: { command: { resume: 1 } } })
    await settled()
    house.host.end(house.host.only)
    await settled()
    expect((await house.client.get('t', 'x')).row.status).toBe('idle')
    await pass(house, 3)
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
  })

  it.each(['in time', 'a minute later', 'after a crash', 'after two'])(
    'answers a client that lost the result and comes %s',
    async (when) => {
      const { house, answer, left } = await begun()
      left.abort()
      await expect(answer).rejects.toThrow()
      await settled()
      house.host.end(house.host.only)
      await settled()
      const crashes = when === 'after a crash' ? 1 : when === 'after two' ? 2 : 0
      for (let crash = 0; crash < crashes; crash++) {
        house.restart()
        // As the server does: it wakes all threads that are busy or hidden.
        await house.client.get('t', 'x')
        await pass(house, 2)
      }
      if (when !== 'in time') await pass(house, 2)
      expect((await house.client.get('t', 'x')).row.hidden).toBe(when === 'in time')
      expect(await house.client.joinRun('t', 'x', 'x')).toBe('{"log":["one"]}')
      await house.client.discard('t', 'x')
      await settled()
      await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
    },
  )

  it('is no place for another call with its id', async () => {
    const { house } = await begun()
    const again = await house.client.startRun('t', 'x', keepable())
    expect(again.runId).toBe('x')
    house.host.end(house.host.only, asking)
    await settled()
    await expect(house.client.startRun('t', 'x', keepable())).rejects.toThrow(/already exists/)
  })

  it('goes on at the next owner', async () => {
    const pair = new ThreadPair()
    const { result } = await pair.client.startAndWait('t', 'x', keepable())
    const answer = result()
    await settled()
    pair.host.end(pair.host.only, asking)
    expect(JSON.parse(await answer)).toMatchObject({ __interrupt__: [{ value: '?' }] })
    await pair.client.patch('t', 'x', {})
    pair.kill()
    const asked = pair.client.get('t', 'x')
    for (let i = 0; i < 3; i++) {
      await settled()
      pair.env.advance(250)
    }
    expect((await asked).row).toMatchObject({ hidden: false, status: 'interrupted' })
  })
})
