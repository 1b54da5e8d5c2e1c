/** Runs while their thread cannot be read: they wait, and lose no attempt by it. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../src/errors.ts'
import { ThreadHouse, settled } from '../../support/thread-house.ts'

/** Much longer than three attempts would take. */
async function aWhile(house: ThreadHouse): Promise<void> {
  for (let i = 0; i < 40; i++) {
    await settled()
    house.env.advance(250)
  }
  await settled()
}

/** What was written is read no more, until the result is called; `is` says which reads. */
function takeAway({ log }: ThreadHouse, is: (reverse: boolean) => boolean,
  error: Error = new HeddleError('unavailable', 'the store is away')): () => void {
  const read = log.read.bind(log)
  log.read = (branch, range) =>
    is(range.reverse === true) ? Promise.reject(error) : read(branch, range)
  return () => { log.read = read }
}

async function begun(): Promise<ThreadHouse> {
  const house = new ThreadHouse()
  await house.startRun('x')
  await house.host.step(house.host.only, 'one')
  return house
}

describe('a run whose thread cannot be read', () => {
  it('begins when it can be, as the attempt that it was to be', async () => {
    const house = await begun()
    house.restart()
    // Only what the run asks for, so that its thread is loaded.
    const back = takeAway(house, (reverse) => reverse)
    await house.client.get('t', 'x')
    const rows = house.log.rows.length
    await aWhile(house)
    expect(house.host.executions).toEqual([])
    expect(house.log.rows.length).toBe(rows)
    back()
    await aWhile(house)
    expect(house.host.only.execution).toMatchObject({ attempt: 2 })
  })

  it('is told what it asked for in its midst, when that can be read', async () => {
    const house = await begun()
    house.host.end(house.host.only)
    await settled()
    await house.startRun('x')
    const back = takeAway(house, () => true)
    const found = house.host.only.source.tuple('', 'unknown')
    const listed = house.host.only.source.list(
      { ns: '', checkpointId: null, before: null, limit: 1, filter: null })
    await aWhile(house)
    back()
    await aWhile(house)
    expect(await found).toBeUndefined()
    expect(await listed).toHaveLength(1)
  })

  it('can be cancelled meanwhile, and asks no more then', async () => {
    const house = await begun()
    const { id, runId } = house.host.only.execution
    takeAway(house, () => true)
    const listed = house.host.only.source.list(
      { ns: '', checkpointId: null, before: null, limit: 1, filter: null })
    const refused = expect(listed).rejects.toThrow('away')
    await settled()
    await house.client.cancelRun('t', 'x', runId, { action: 'interrupt', wait: false })
    house.env.advance(250)
    await refused
    expect(house.host.running.has(id)).toBe(false)
  })

  it('for a reason that does not pass uses up its attempts', async () => {
    const house = await begun()
    const { runId } = house.host.only.execution
    house.restart()
    takeAway(house, (reverse) => reverse, new Error('a row that nobody understands'))
    expect(JSON.parse(await house.client.joinRun('t', 'x', runId)))
      .toMatchObject({ __error__: { error: 'WorkerCrashed' } })
  })
})
