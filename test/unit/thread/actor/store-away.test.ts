/** Runs while the store is unreachable: they wait or are resumed, and lose no attempt. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { Step } from '../../../../src/graph/index.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

/** Ten seconds: much longer than three attempts would take. */
async function aWhile(house: ThreadHouse): Promise<void> {
  for (let i = 0; i < 40; i++) {
    await settled()
    house.env.advance(250)
  }
  await settled()
}

const away = () => new HeddleError('unavailable', 'the store is away')

/** Reads for which `is` is true fail until the result is called. */
function takeAway({ log }: ThreadHouse, is: (reverse: boolean) => boolean,
  error: Error = away()): () => void {
  const read = log.read.bind(log)
  log.read = (branch, range) =>
    is(range.reverse === true) ? Promise.reject(error) : read(branch, range)
  return () => {
    log.read = read
  }
}

/** All appends fail until the result is called. */
function refuseAppends({ log }: ThreadHouse): () => void {
  const append = log.append.bind(log)
  log.append = () => Promise.reject(away())
  return () => {
    log.append = append
  }
}

async function begun(): Promise<ThreadHouse> {
  const house = new ThreadHouse()
  await house.startRun('x')
  await house.host.step(house.host.only, 'one')
  return house
}

describe('a run whose thread cannot be read', () => {
  it('begins once it can be read, as the attempt that was due', async () => {
    const house = await begun()
    house.restart()
    // Only reads for the run fail, so that its thread can be loaded.
    const back = takeAway(house, (reverse) => reverse)
    await house.client.get('t', 'x')
    const rows = house.log.rows.length
    await aWhile(house)
    expect(house.host.executions).toEqual([])
    expect(house.log.rows.length).toBe(rows)
    back()
    await aWhile(house)
    expect(house.host.only.execution).toMatchObject({ attempt: 1 })
  })

  it('gets what it reads in the middle of it once that can be read', async () => {
    const house = await begun()
    house.host.end(house.host.only)
    await settled()
    await house.startRun('x')
    const back = takeAway(house, () => true)
    const found = house.host.only.source.tuple('', 'unknown')
    const listed = house.host.only.source.list(
      { ns: '', checkpointId: null, before: null, limit: 1, filter: null },
    )
    await aWhile(house)
    back()
    await aWhile(house)
    expect(await found).toBeUndefined()
    expect(await listed).toHaveLength(1)
  })

  it('can be cancelled meanwhile, and then reads no more', async () => {
    const house = await begun()
    const { id, runId } = house.host.only.execution
    takeAway(house, () => true)
    const listed = house.host.only.source.list(
      { ns: '', checkpointId: null, before: null, limit: 1, filter: null },
    )
    const refused = expect(listed).rejects.toThrow('away')
    await settled()
    await house.client.cancelRun('t', 'x', runId, { action: 'interrupt' })
    house.env.advance(250)
    await refused
    expect(house.host.running.has(id)).toBe(false)
  })

  it('ends at its time limit if that continues for too long', async () => {
    const house = await begun()
    const { runId } = house.host.only.execution
    house.restart()
    takeAway(house, (reverse) => reverse)
    await house.client.get('t', 'x')
    await settled()
    house.env.advance(3_600_000)
    await settled()
    house.env.advance(3_000)
    await settled()
    expect((await house.client.getRun('t', 'x', runId)).status).toBe('timeout')
  })

  it('uses up its attempts if the reason does not pass', async () => {
    const house = await begun()
    const { runId } = house.host.only.execution
    house.restart()
    takeAway(house, (reverse) => reverse, new Error('a row that nobody understands'))
    expect(JSON.parse(await house.client.joinRun('t', 'x', runId)))
      .toMatchObject({ __error__: { error: 'WorkerCrashed' } })
  })
})

describe('a run whose thread cannot be written', () => {
  it('is resumed without a request, even if its end was lost', async () => {
    const house = await begun()
    const back = refuseAppends(house)
    house.host.end(house.host.only)
    await settled()
    back()
    await aWhile(house)
    expect(house.host.only.execution).toMatchObject({ attempt: 1 })
  })

  it('is resumed if a delete of its thread failed', async () => {
    const house = await begun()
    const back = refuseAppends(house)
    await expect(house.client.delete('t', 'x')).rejects.toThrow('away')
    back()
    await aWhile(house)
    expect(house.host.running.size).toBe(1)
  })

  it('is resumed even if a request meanwhile failed as well', async () => {
    const house = await begun()
    const first = Promise.withResolvers<void>()
    const append = house.log.append.bind(house.log)
    house.log.append = async () => {
      await first.promise
      throw away()
    }
    house.host.step(house.host.only, 'two').catch(() => {})
    await settled()
    house.log.append = () => Promise.reject(away())
    house.host.step(house.host.only, 'three').catch(() => {})
    await settled()
    const { get } = house.tables.threads
    Object.assign(house.tables.threads, { get: () => Promise.reject(away()) })
    const refused = expect(house.client.get('t', 'x')).rejects.toThrow('away')
    first.resolve()
    await refused
    Object.assign(house.tables.threads, { get })
    house.log.append = append
    await aWhile(house)
    expect(house.host.running.size).toBe(1)
  })

  it('keeps its thread readable and its followers connected, however long that takes', async () => {
    const house = await begun()
    const { runId } = house.host.only.execution
    const ends: string[] = []
    await house.client.followRun('t', 'x', runId, { after: null, modes: null }, { events: () => {},
      ended: (how) => void ends.push(how) })
    const back = refuseAppends(house)
    await expect(house.host.step(house.host.only, 'two')).rejects.toThrow('away')
    const reads: Promise<string>[] = []
    for (let minute = 1; minute <= 12; minute++) {
      reads.push(house.client.get('t', 'x').then(({ row }) => row.status))
      await aWhile(house)
    }
    expect(await Promise.all(reads)).toEqual(reads.map(() => 'busy'))
    back()
    await aWhile(house)
    house.host.end(house.host.only)
    await aWhile(house)
    expect(ends).toEqual(['over'])
  })

  it('loses no attempt, however often that happens', async () => {
    const house = await begun()
    for (let time = 1; time <= 4; time++) {
      const back = refuseAppends(house)
      await expect(house.host.step(house.host.only, 'lost')).rejects.toThrow('away')
      const { get } = house.tables.threads
      Object.assign(house.tables.threads, { get: () => Promise.reject(away()) })
      await aWhile(house)
      Object.assign(house.tables.threads, { get })
      if (time % 2 === 0) await aWhile(house)
      back()
      await aWhile(house)
      expect(house.host.only.execution).toMatchObject({ attempt: 1 })
    }
    house.restart()
    await house.client.get('t', 'x')
    await settled()
    expect(house.host.only.execution).toMatchObject({ attempt: 1 })
  })

  it('loses one if the first failure was another, though the store was away later', async () => {
    const house = await begun()
    const first = Promise.withResolvers<void>()
    const append = house.log.append.bind(house.log)
    house.log.append = async () => {
      await first.promise
      throw new HeddleError('too_large')
    }
    house.host.step(house.host.only, 'large').catch(() => {})
    await settled()
    house.log.append = async () => {
      await first.promise
      throw away()
    }
    house.host.step(house.host.only, 'behind it').catch(() => {})
    await settled()
    first.resolve()
    await settled()
    house.log.append = append
    await aWhile(house)
    expect(house.host.only.execution).toMatchObject({ attempt: 2 })
  })

  it('loses none if the lookup of the subgraph checkpoint failed', async () => {
    const house = await begun()
    const nested = (id: string, parentId: string): Step => ({ $case: 'checkpoint', value: {
      ns: 'sub',
      id,
      parentId,
      full: parentId === '',
      changes: [],
      skeletonJson: '{}',
      metadataJson: '{}',
      runId: '',
      atMs: 0,
    } })
    const steps = (step: Step) => house.host.only.listener.steps({ steps: [step], events: [] })
    await steps(nested('first', ''))
    house.restart()
    await house.client.get('t', 'x')
    await settled()
    const find = house.log.findCheckpoint.bind(house.log)
    house.log.findCheckpoint = () => Promise.reject(away())
    const { id } = house.host.only.execution
    await expect(steps(nested('second', 'first'))).rejects.toThrow('away')
    house.log.findCheckpoint = find
    await aWhile(house)
    // Nothing is built on what the log lacks: the run begins anew from what it has.
    expect(house.host.only.execution).toMatchObject({ attempt: 1 })
    expect(house.host.only.execution.id).not.toBe(id)
  })
})
