/** Idempotency-Keys of runs and of messages: a repeated request never makes a second run. */

import { describe, expect, it } from 'vitest'

import { clockAhead } from '../../../support/clock-ahead.ts'
import { aMessage, settled, ThreadHouse } from '../../../support/thread-house.ts'
import type { StartRun } from '../../../../src/thread/index.ts'
import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'

const hourMs = 3_600_000

const message = (text: string): Partial<StartRun> => ({ ...aMessage(text), commandId: 'key' })

const start = (house: ThreadHouse, run: Partial<StartRun> = {}) =>
  house.startRun('x', run) as Promise<RunRow>

async function startAndEnd(house: ThreadHouse, run: Partial<StartRun> = {}): Promise<RunRow> {
  const row = await start(house, run)
  await settled()
  house.host.end(house.host.only)
  await settled()
  return row
}

describe('the key of a run', () => {
  it('returns the run after more than a hundred newer runs, also after a restart', async () => {
    const house = new ThreadHouse()
    const { runId } = await startAndEnd(house, { commandId: 'key' })
    for (let n = 0; n < 101; n++) await startAndEnd(house)
    expect((await start(house, { commandId: 'key' })).runId).toBe(runId)
    house.restart()
    expect((await start(house, { commandId: 'key' })).runId).toBe(runId)
    expect(house.host.running.size).toBe(0)
  })

  it('makes another run after 24 hours, unless the run is among the hundred newest', async () => {
    const house = new ThreadHouse()
    const { runId } = await startAndEnd(house, { commandId: 'key' })
    house.env.advance(25 * hourMs)
    house.restart()
    expect((await start(house, { commandId: 'key' })).runId).toBe(runId)
    for (let n = 0; n < 101; n++) await startAndEnd(house)
    house.restart()
    expect((await start(house, { commandId: 'key' })).runId).not.toBe(runId)
  })

  it('is not forgotten early while the clock is ahead', async () => {
    const house = new ThreadHouse()
    const { runId } = await startAndEnd(house, { commandId: 'key' })
    for (let n = 0; n < 101; n++) await startAndEnd(house)
    house.env.advance(1_000)
    await clockAhead(house.env, async () => {
      expect((await start(house, { commandId: 'key' })).runId).toBe(runId)
    })
  })

  it.each(['deleted', 'deleted after its end', 'rolled back'])('is refused once its run was %s',
    async (how) => {
      const house = new ThreadHouse()
      const isOver = how === 'deleted after its end'
      const { runId } = await (isOver ? startAndEnd : start)(house, { commandId: 'key' })
      await (how === 'rolled back'
        ? house.client.cancelRun('t', 'x', runId, { action: 'rollback' })
        : house.client.deleteRun('t', 'x', runId))
      for (const restarts of [false, true]) {
        if (restarts) house.restart()
        await expect(start(house, { commandId: 'key' })).rejects.toMatchObject({
          code: 'not_found',
        })
      }
      expect(house.host.running.size).toBe(0)
    })

  it('returns its run after the checkpoint from which that began was pruned', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    const { row: { head } } = await house.client.get('t', 'x')
    const fork = { commandId: 'key',
      kwargs: { input: {}, checkpoint: { checkpoint_id: head!.id } } } as const
    const { runId } = await start(house, fork)
    await house.host.step(house.host.only, 'two')
    house.host.end(house.host.only)
    await settled()
    await house.client.prune('t', 'x', 'keep_latest')
    expect((await start(house, fork)).runId).toBe(runId)
    await expect(start(house, { ...fork, commandId: 'other' })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('is refused instead of making a second run if the thread has too many keys', async () => {
    const house = new ThreadHouse({ keys: 3 })
    for (const commandId of ['a', 'b', 'c', 'd']) await startAndEnd(house, { commandId })
    await expect(start(house, { commandId: 'a' })).rejects.toMatchObject({ code: 'full' })
    await startAndEnd(house)
    for (let n = 0; n < 100; n++) await startAndEnd(house)
    house.restart()
    await expect(start(house, { commandId: 'a' })).rejects.toMatchObject({ code: 'full' })
    house.env.advance(25 * hourMs)
    await startAndEnd(house, { commandId: 'e' })
  })
})

describe('the key of a message for a run', () => {
  async function taken() {
    const house = new ThreadHouse()
    await start(house)
    await settled()
    await house.host.step(house.host.only, 'one')
    const { runId } = await start(house, message('a'))
    house.host.end(house.host.only, { status: 'drained' })
    await settled()
    await house.host.step(house.host.only, 'edit')
    house.host.end(house.host.only, { waiting: true })
    await settled()
    return { house, runId }
  }

  it('returns the message after a run has taken it, also after a restart', async () => {
    const { house, runId } = await taken()
    expect((await start(house, message('again'))).runId).toBe(runId)
    house.host.end(house.host.only)
    await settled()
    expect((await start(house, message('again'))).runId).toBe(runId)
    house.restart()
    expect((await start(house, message('again'))).runId).toBe(runId)
    expect(house.host.running.size).toBe(0)
  })

  it('makes another message after 24 hours', async () => {
    const { house, runId } = await taken()
    house.env.advance(25 * hourMs)
    await settled()
    await start(house)
    expect((await start(house, message('again'))).runId).not.toBe(runId)
  })
})

describe('a client that has left', () => {
  const left = (house: ThreadHouse, runId: string, openMs: number) =>
    house.client.cancelRun('t', 'x', runId, { action: 'interrupt', cause: 'disconnected', openMs })

  it('does not cancel its run after it has repeated its request', async () => {
    const house = new ThreadHouse()
    const { runId } = await start(house, { commandId: 'key' })
    house.env.advance(5_000)
    expect((await start(house, { commandId: 'key' })).runId).toBe(runId)
    house.env.advance(1_000)
    // The first response started six seconds ago, before the repetition.
    await left(house, runId, 6_000)
    expect((await house.client.getRun('t', 'x', runId)).status).toBe('running')
  })

  it('cancels its run if it leaves the response to its newest request', async () => {
    const house = new ThreadHouse()
    const { runId } = await start(house, { commandId: 'key' })
    await start(house, { commandId: 'key' })
    house.env.advance(1_000)
    await left(house, runId, 1_000)
    expect((await house.client.getRun('t', 'x', runId)).status).toBe('interrupted')
  })
})
