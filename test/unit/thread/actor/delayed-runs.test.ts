/** Runs that wait for their time: their threads sleep meanwhile, and are woken when one is due. */

import { describe, expect, it } from 'vitest'

import { settled, ThreadHouse } from '../../../support/thread-house.ts'

async function pass(house: ThreadHouse, ms: number): Promise<void> {
  house.env.advance(ms)
  await settled()
  await settled()
}

async function houseWith(afterMs: number): Promise<ThreadHouse> {
  const house = new ThreadHouse()
  await house.startRun('x', { afterMs })
  return house
}

describe('a thread whose runs all wait for their time', () => {
  it('sleeps after a moment, and is woken when the first one is due', async () => {
    const house = await houseWith(60_000)
    await house.startRun('x', { afterMs: 30_000 })
    expect(house.activations.size).toBe(1)
    await pass(house, 3_000)
    expect(house.activations.size).toBe(0)
    await pass(house, 26_000)
    expect(house.host.executions).toHaveLength(0)
    await pass(house, 2_000)
    expect(house.host.executions).toHaveLength(1)
    house.host.end(house.host.only)
    await settled()
    await pass(house, 5_000)
    expect(house.activations.size).toBe(0)
    await pass(house, 30_000)
    expect(house.host.executions).toHaveLength(2)
  })

  it('holds no room for inputs while it sleeps', async () => {
    const house = new ThreadHouse({ inputCharacters: 1_000 })
    await house.startRun('x', { afterMs: 60_000, kwargs: { input: 'x'.repeat(2_000) } })
    await expect(house.startRun('y')).rejects.toMatchObject({ code: 'full' })
    await pass(house, 3_000)
    await house.startRun('y')
  })

  it('is not read while there is no room for its input, and wakes when there is some', async () => {
    const house = new ThreadHouse({ inputCharacters: 1_000 })
    await house.startRun('x', { afterMs: 60_000, kwargs: { input: 'x'.repeat(900) } })
    await pass(house, 3_000)
    await house.startRun('y', { kwargs: { input: 'y'.repeat(2_000) } })
    for (let n = 0; n < 9; n++) {
      await expect(house.client.get('t', 'x')).rejects.toMatchObject({ code: 'full' })
    }
    expect(house.env.lines).toHaveLength(1)
    await pass(house, 60_000)
    expect(house.host.executions).toHaveLength(1)
    house.host.end(house.host.only)
    await settled()
    await pass(house, 2_000)
    expect(house.host.executions).toHaveLength(2)
  })

  it('is loaded for a recovery although its tenant holds too much, up to a limit', async () => {
    const house = new ThreadHouse({ inputCharacters: 1_000 })
    const key = (id: string) => ({ kind: 'thread', tenant: 't', id })
    const recover = (id: string) =>
      house.recoveries.during('t', id, () => house.activations.wake(key(id), 1))
    for (const id of ['x', 'y', 'z']) {
      await house.startRun(id, { afterMs: 60_000, kwargs: { input: 'x'.repeat(500) } })
      await pass(house, 3_000)
    }
    await house.startRun('busy', { kwargs: { input: 'x'.repeat(800) } })
    await expect(house.activations.wake(key('x'), 1)).rejects.toMatchObject({ code: 'full' })
    await recover('x')
    await expect(recover('y')).rejects.toMatchObject({ code: 'full' })
    // It sleeps again, and leaves its room to the next one.
    await pass(house, 2_000)
    await recover('y')
  })

  it('stays awake for who follows or waits, and sleeps when they have left', async () => {
    const house = await houseWith(600_000)
    const [run] = await house.client.listRuns({ tenant: 't', threadId: 'x', limit: 1, offset: 0 })
    const stop = await house.client.followRun('t', 'x', run!.runId, { after: null, modes: null }, {
      events: () => {},
      ended: () => {},
    })
    const left = new AbortController()
    const joined = house.client.joinRun('t', 'x', run!.runId, left.signal)
    await pass(house, 3_000)
    expect(house.activations.size).toBe(1)
    stop()
    await pass(house, 60_000)
    expect(house.activations.size).toBe(1)
    left.abort(new Error('left'))
    await expect(joined).rejects.toThrow()
    await pass(house, 60_000)
    expect(house.activations.size).toBe(0)
  })

  it('wakes for a read or another run, and sleeps again', async () => {
    const house = await houseWith(600_000)
    await pass(house, 3_000)
    await house.client.get('t', 'x')
    expect(house.activations.size).toBe(1)
    await pass(house, 3_000)
    expect(house.activations.size).toBe(0)
    await house.runOnce('x', 'now')
    expect(house.host.executions).toHaveLength(1)
    await pass(house, 3_000)
    expect(house.activations.size).toBe(0)
  })

  it('is woken after a restart, also if the run was due before', async () => {
    for (const awayMs of [0, 120_000]) {
      const house = await houseWith(60_000)
      await pass(house, 3_000)
      house.restart()
      await pass(house, awayMs)
      expect(house.host.executions).toHaveLength(0)
      house.dueWakes!.note(0)
      await pass(house, 0)
      expect(house.host.executions).toHaveLength(awayMs > 0 ? 1 : 0)
      expect(house.activations.size).toBe(awayMs > 0 ? 1 : 0)
      await pass(house, 60_000)
      expect(house.host.executions).toHaveLength(1)
    }
  })

  it('is woken when its run is due, although the row of an older version does not say so',
    async () => {
      const house = await houseWith(60_000)
      await pass(house, 3_000)
      for (const update of house.log.updates) {
        if (update.table === 'thread') {
          for (const run of update.row.unfinished) run.notBeforeMs = 0
        }
      }
      house.restart()
      expect(await house.tables.unfinished()).toHaveLength(1)
      await house.client.get('t', 'x')
      await settled()
      expect(await house.tables.unfinished()).toHaveLength(0)
      await pass(house, 3_000)
      expect(house.activations.size).toBe(0)
      await pass(house, 60_000)
      expect(house.host.executions).toHaveLength(1)
    })

  it('sleeps no longer when its run is cancelled: it is idle', async () => {
    const house = await houseWith(60_000)
    await pass(house, 3_000)
    const [run] = await house.client.listRuns({ tenant: 't', threadId: 'x', limit: 1, offset: 0 })
    await house.client.cancelRun('t', 'x', run!.runId, { action: 'interrupt' })
    expect(await house.tables.due({ atMs: 0, no: 0 }, 10)).toEqual([])
    await pass(house, 120_000)
    expect(house.host.executions).toHaveLength(0)
  })
})
