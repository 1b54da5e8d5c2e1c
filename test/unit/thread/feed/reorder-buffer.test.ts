/** Events whose data arrives later: they are sent in order, and once. */

import { describe, expect, it } from 'vitest'

import type { StepBatch, StepEvent } from '../../../../src/graph/index.ts'
import type { FeedEvent } from '../../../../src/thread/index.ts'
import { updates } from '../../../support/scripted-host.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

const reorder: StepEvent = { name: 'custom', json: '', valuesOf: '', durable: false }

/** A run with a follower: what that has got, and how the run sends more. */
async function followed() {
  const house = new ThreadHouse()
  const run = house.run()
  await house.client.startRun('t', 'x', run)
  const endSeen: FeedEvent[] = []
  const follow = (events: FeedEvent[]) =>
    house.client.followRun('t', 'x', run.runId, { after: null, modes: null }, {
      events: (batch) => void events.push(...batch),
      ended: () => {},
    })
  await follow(endSeen)
  const { listener } = house.host.only
  const texts = () => endSeen.slice(1).map(({ json }) => json)
  const notify = (batch: Partial<StepBatch>) => listener.steps({ steps: [], events: [], ...batch })
  return { house, run, endSeen, texts, follow, notify }
}

describe('an event without its data', () => {
  it('holds back those behind it until that is there', async () => {
    const { endSeen, texts, notify } = await followed()
    await notify({ events: [updates('1'), reorder, updates('3'), reorder] })
    await notify({ events: [updates('5')] })
    expect(texts()).toEqual(['1'])
    await notify({ texts: ['2'] })
    expect(texts()).toEqual(['1', '2', '3'])
    await notify({ texts: ['4'] })
    expect(texts()).toEqual(['1', '2', '3', '4', '5'])
    const indexes = endSeen.slice(1).map(({ id }) => id)
    expect(indexes).toEqual(indexes.toSorted())
  })

  it('does not withhold the durable events behind it if the worker is lost', async () => {
    const { house, texts, notify } = await followed()
    await notify({ events: [reorder, updates('2')] })
    house.host.lose(house.host.only, 'crashed')
    await settled()
    expect(texts()[0]).toBe('2')
  })

  it('does not withhold them until the end of the run is on disk', async () => {
    const { house, texts, notify } = await followed()
    await notify({ events: [reorder, updates('2')] })
    const onDisk = Promise.withResolvers<void>()
    house.log.gate = onDisk.promise
    house.host.end(house.host.only)
    await settled()
    expect(texts()).toEqual(['2'])
    onDisk.resolve()
  })

  it('is in its place for a later follower', async () => {
    const { house, run, follow, notify } = await followed()
    await notify({ events: [reorder, updates('2')] })
    await notify({ texts: ['1'] })
    house.host.end(house.host.only)
    await house.client.joinRun('t', 'x', run.runId)
    const later: FeedEvent[] = []
    await follow(later)
    expect(later.slice(1, -1).map(({ json }) => json)).toEqual(['1', '2'])
  })
})

describe('a batch that is awaited', () => {
  it('has arrived when all followers are ready for more', async () => {
    const { house, run, notify } = await followed()
    const ready = Promise.withResolvers<void>()
    await house.client.followRun('t', 'x', run.runId, { after: null, modes: null }, {
      events: () => {},
      ready: () => ready.promise,
      ended: () => {},
    })
    let arrived = false
    await notify({ events: [updates('1')] })
    const landed = notify({ events: [updates('2')], awaited: true }).then(() => {
      arrived = true
    })
    await settled()
    expect(arrived).toBe(false)
    ready.resolve()
    await landed
  })

  it('waits for followers for two seconds in all, however many batches come', async () => {
    const { house, run, notify } = await followed()
    await house.client.followRun('t', 'x', run.runId, { after: null, modes: null }, {
      events: () => {},
      ready: () => new Promise(() => {}),
      ended: () => {},
    })
    let arrived = false
    const landed = notify({ events: [updates('1')], awaited: true }).then(() => {
      arrived = true
    })
    await settled()
    house.env.advance(1_999)
    await settled()
    expect(arrived).toBe(false)
    house.env.advance(1)
    await landed
    await notify({ events: [updates('2')], awaited: true })
  })

  it('waits beyond that as long as a line of 100 Mbit/s needs', async () => {
    const { house, run, notify } = await followed()
    let taken = Promise.withResolvers<void>()
    await house.client.followRun('t', 'x', run.runId, { after: null, modes: null }, {
      events: () => {},
      ready: () => taken.promise,
      ended: () => {},
    })
    for (let i = 0; i < 30; i++) {
      let arrived = false
      const landed = notify({ events: [updates('x'.repeat(1_000_000))], awaited: true })
        .then(() => {
          arrived = true
        })
      await settled()
      house.env.advance(99)
      await settled()
      expect(arrived).toBe(false)
      taken.resolve()
      await landed
      taken = Promise.withResolvers()
    }
  })
})
