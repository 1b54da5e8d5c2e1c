/** A caller that waits for its run does not bring back what was removed meanwhile. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'
import type { StartRun } from '../../../../src/thread/index.ts'

const waiting = { awaited: true, ifMissing: 'create' } as const
const temporary = { awaited: true, ifMissing: 'hidden',
  plan: { ...aRun('').plan, temporary: true } } as const

type World = Pick<ThreadHouse, 'client' | 'env'>

/** Starts a run whose caller waits. Resolves with the code of the error that the caller gets. */
async function startWaiting({ client, env }: World, run: StartRun): Promise<() => Promise<string>> {
  const { result } = await client.startAndWait('t', 'x', run)
  const outcome = result().then(() => 'a result', (error) => HeddleError.from(error).code)
  await pass({ env }, 3_000)
  return () => Promise.race([outcome, pass({ env }, 3_000).then(() => 'it still waits')])
}

async function pass({ env }: Pick<World, 'env'>, ms: number): Promise<void> {
  for (let passed = 0; passed <= ms; passed += 100) {
    await settled()
    env.advance(100)
  }
  await settled()
}

const isThere = ({ client }: World) =>
  client.get('t', 'x').then(() => true, (error) => HeddleError.from(error).code !== 'not_found')

describe('one server, on which a write fails while the caller waits', () => {
  /** The run after the failure, under an actor that was loaded again. */
  async function afterFailure(run: Partial<StartRun> = {}) {
    const house = new ThreadHouse()
    const started = house.run({ ...waiting, ...run })
    const outcome = await startWaiting(house, started)
    const append = house.log.append.bind(house.log)
    house.log.append = () => Promise.reject(new HeddleError('unavailable', 'the disk is full'))
    house.host.step(house.host.only, 'one').catch(() => {})
    await settled()
    house.log.append = append
    return { house, outcome, runId: started.runId }
  }

  it('returns not_found after the thread was deleted, and executes nothing again', async () => {
    const { house, outcome } = await afterFailure()
    await pass(house, 5_000)
    const { length } = house.host.executions
    await house.client.delete('t', 'x')
    expect(await outcome()).toBe('not_found')
    expect(await isThere(house)).toBe(false)
    expect(house.host.executions).toHaveLength(length)
  })

  it('returns not_found after a delete between two tries', async () => {
    const { house, outcome } = await afterFailure()
    await house.client.delete('t', 'x')
    expect(await outcome()).toBe('not_found')
    expect(await isThere(house)).toBe(false)
  })

  it.each(['delete', 'rollback'] as const)(
    'returns not_found after the run was removed between two tries: %s',
    async (how) => {
      const { house, outcome, runId } = await afterFailure()
      await (how === 'delete'
        ? house.client.deleteRun('t', 'x', runId)
        : house.client.cancelRun('t', 'x', runId, { action: 'rollback' }))
      expect(await outcome()).toBe('not_found')
      const query = { tenant: 't', threadId: 'x', limit: 9, offset: 0 }
      expect(await house.client.listRuns(query)).toEqual([])
      expect(house.host.running.size).toBe(0)
    },
  )
})

describe('a thread that moves while the caller waits', () => {
  it.each([['a thread with an id', waiting], ['a stateless run', temporary]])(
    'is not made again after it was deleted: %s',
    async (_, run) => {
      const pair = new ThreadPair()
      const outcome = await startWaiting(pair, aRun('r', run))
      const handedOver = pair.handOver()
      await settled()
      pair.host.end(pair.host.only, { status: 'drained' })
      await handedOver
      await pair.client.delete('t', 'x')
      expect(await outcome()).toBe('not_found')
      expect(await isThere(pair)).toBe(false)
    },
  )

  it('is not made again after it was deleted once its owner has died', async () => {
    const pair = new ThreadPair()
    const outcome = await startWaiting(pair, aRun('r', waiting))
    pair.kill()
    await pair.client.delete('t', 'x')
    expect(await outcome()).toBe('not_found')
    expect(await isThere(pair)).toBe(false)
  })

  it('is made again if the owner died before the run was on disk', async () => {
    const pair = new ThreadPair()
    const disk = Promise.withResolvers<void>()
    pair.log.gate = disk.promise
    const { result } = await pair.client.startAndWait('t', 'x', aRun('r', waiting))
    const value = result()
    await settled()
    pair.kill()
    pair.log.gate = Promise.resolve()
    await pass(pair, 1_000)
    expect(pair.host.only.execution.runId).toBe('r')
    pair.host.end(pair.host.only)
    await expect(value).resolves.toBe('{}')
  })
})

const key = { kind: 'thread', tenant: 't', id: 'x' }

it('A command that made a thread is refused when it is sent again after the delete.', async () => {
  const { inbound, client } = new ThreadHouse()
  const request = { threadId: 'x', metadata: {}, ifExists: 'do_nothing', supersteps: [] }
  const create = (id: string) => inbound.ask(key, { type: 'create', request }, { id })
  await create('command')
  await client.delete('t', 'x')
  await expect(create('command')).rejects.toMatchObject({ code: 'not_found' })
  await create('another')
})

it('A start that is sent again after its thread was deleted is refused.', async () => {
  const { inbound, client, env, ...house } = new ThreadHouse()
  const start = (commandId: string, id: string) =>
    inbound.ask(key, { type: 'start', run: aRun(env.uuid7(), { commandId }) }, { id })
  await start('key', 'command')
  await client.delete('t', 'x')
  await expect(start('', 'command')).rejects.toMatchObject({ code: 'not_found' })
  await expect(start('key', 'another')).rejects.toMatchObject({ code: 'not_found' })
  expect(house.host.running.size).toBe(0)
  await start('', 'another')
})
