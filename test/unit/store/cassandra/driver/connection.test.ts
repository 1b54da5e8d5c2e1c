/** Requests over a driver that fails: how long they are tried again, and how they fail. */

import { Client, errors, types } from 'cassandra-driver'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { AmbiguousSwap, Connection } from '../../../../../src/store/cassandra/driver/connection.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'

const { responseErrorCodes: codes } = types

const timedOut = () => new errors.OperationTimedOutError('late', 'h')
const tooFew = () => new errors.ResponseError(codes.unavailableException, 'too few')
const wrong = () => new errors.ResponseError(codes.invalid, 'no such table')
const statement = { cql: 'INSERT', values: ['x', 1n, null, new Uint8Array([7])] } as const

describe('a connection', () => {
  let env: VirtualEnv
  let connection: Connection
  let sent: unknown[][]
  /** The driver's answers, one after another; the last one repeats. */
  let answers: (Error | Record<string, unknown>)[]

  beforeEach(async () => {
    env = virtualEnv()
    sent = []
    vi.spyOn(Client.prototype, 'connect').mockImplementation(async () => undefined)
    vi.spyOn(Client.prototype, 'shutdown').mockImplementation(async () => undefined)
    vi.spyOn(Client.prototype, 'execute').mockImplementation(async (...request: unknown[]) => {
      sent.push(request)
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!
      if (answer instanceof Error) throw answer
      return answer as unknown as types.ResultSet
    })
    connection = await Connection.open({
      env,
      contactPoints: ['h'],
      localDataCenter: 'us',
      keyspace: 'k',
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  /** Moves the clock until the request has ended. */
  async function ended<Result>(request: Promise<Result>): Promise<PromiseSettledResult<Result>> {
    const results: PromiseSettledResult<Result>[] = []
    void Promise.allSettled([request]).then((settled) => results.push(...settled))
    for (let step = 0; step < 1_000 && results.length === 0; step++) {
      await new Promise(setImmediate)
      env.advance(50)
    }
    return results[0]!
  }
  const reasonOf = (result: PromiseSettledResult<unknown>) =>
    (result as PromiseRejectedResult).reason as { code: string; details: object }

  it('repeats a write unchanged while its outcome is unknown', async () => {
    answers = [...Array.from({ length: 30 }, timedOut), {}]
    expect((await ended(connection.write(statement))).status).toBe('fulfilled')
    expect(sent.length).toBe(31)
    expect(env.monotonicMs()).toBeGreaterThan(20_000)
    for (const each of sent) expect(each.slice(0, 2)).toEqual(sent[0]!.slice(0, 2))
  })

  it('gives up a batch that may be repeated, and says whether it may be written', async () => {
    const batches: unknown[][] = []
    const failWith = (failure: () => Error) =>
      vi.spyOn(Client.prototype, 'batch').mockImplementation(async (...request: unknown[]) => {
        batches.push(request)
        throw failure()
      })
    for (const [failure, ambiguous] of [[timedOut, true], [tooFew, false]] as const) {
      failWith(failure)
      const beganMs = env.monotonicMs()
      const result = await ended(connection.repeatableBatch([statement]))
      expect(reasonOf(result)).toMatchObject({ code: 'unavailable', details: { ambiguous } })
      expect(env.monotonicMs() - beganMs).toBeGreaterThan(6_000)
      expect(env.monotonicMs() - beganMs).toBeLessThan(10_000)
    }
    for (const [queries] of batches) expect(queries).toEqual(batches[0]![0])
  })

  it.each([[0, 0], [3_000, 0], [-4_000, 4_000], [7_000, -4_000]])(
    'reads in 3 s a clock that is %d ms after the question as %d ms ahead',
    async (afterMs, aheadMs) => {
      const now = new Date(env.nowMs() + afterMs)
      vi.mocked(Client.prototype.execute).mockImplementation(async () => {
        env.advance(3_000)
        return { rows: [{ now }] } as unknown as types.ResultSet
      })
      expect(await connection.clockAheadMs()).toBe(aheadMs)
    },
  )

  it('sends a write a second time if it takes far longer than others', async () => {
    const [slow, quick] = [Promise.withResolvers<object>(), Promise.withResolvers<object>()]
    const replies = [slow, quick]
    vi.mocked(Client.prototype.execute).mockImplementation(async (...request: unknown[]) => {
      sent.push(request)
      return await replies.shift()!.promise as types.ResultSet
    })
    const written = connection.write(statement)
    await new Promise(setImmediate)
    env.advance(199)
    expect(sent.length).toBe(1)
    env.advance(1)
    expect(sent[1]).toEqual(sent[0])
    quick.resolve({})
    expect((await ended(written)).status).toBe('fulfilled')
  })

  it('does not send a write a second time that early if all are slow', async () => {
    const delayed = () => {
      const reply = Promise.withResolvers<types.ResultSet>()
      env.after(100, () => reply.resolve({} as types.ResultSet))
      return reply.promise
    }
    vi.mocked(Client.prototype.execute).mockImplementation(delayed)
    for (let write = 0; write < 200; write++) await ended(connection.write(statement))
    const never = new Promise<types.ResultSet>(() => {})
    const execute = vi.mocked(Client.prototype.execute).mockImplementation(() => never)
    execute.mockClear()
    void connection.write(statement)
    await new Promise(setImmediate)
    env.advance(700)
    expect(execute).toHaveBeenCalledTimes(1)
    env.advance(200)
    expect(execute).toHaveBeenCalledTimes(2)
  })

  it('leaves null values unset, and sends bytes as Buffers', async () => {
    answers = [{}]
    await connection.write(statement)
    expect(sent[0]![1]).toEqual(['x', 1n, undefined, Buffer.from([7])])
  })

  it('fails soon with unavailable if certainly nothing was written', async () => {
    answers = [tooFew()]
    expect(reasonOf(await ended(connection.write(statement))))
      .toMatchObject({ code: 'unavailable', details: {} })
    expect(env.monotonicMs()).toBeLessThan(2_500)
    expect(sent.length).toBeGreaterThan(2)
  })

  it.each([['too few', tooFew], ['refused', wrong]])(
    'continues with a write of which an attempt may have been written: %s',
    async (_, error) => {
      answers = [timedOut(), ...Array.from({ length: 40 }, error), {}]
      expect((await ended(connection.write(statement))).status).toBe('fulfilled')
    },
  )

  it('repeats work that must be done until it is, or until it is refused or closed', async () => {
    answers = [...Array.from({ length: 40 }, tooFew), {}]
    const work = () => connection.write(statement)
    expect((await ended(connection.surely(work))).status).toBe('fulfilled')
    answers = [wrong()]
    expect(reasonOf(await ended(connection.surely(work)))).toMatchObject({ code: 'internal' })
    await connection.close()
    expect(reasonOf(await ended(connection.surely(work))))
      .toMatchObject({ code: 'unavailable', details: { ambiguous: true } })
  })

  it('fails at once for a request that is wrong', async () => {
    answers = [wrong()]
    expect(reasonOf(await ended(connection.write(statement)))).toMatchObject({ code: 'internal' })
    expect(reasonOf(await ended(connection.read(statement)))).toMatchObject({ code: 'internal' })
    expect(sent.length).toBe(2)
  })

  it('gives up pending writes when it is closed, as ambiguous if they may be written', async () => {
    answers = [timedOut()]
    const unknown = Promise.allSettled([connection.write(statement)])
    await new Promise(setImmediate)
    answers = [tooFew()]
    const certain = Promise.allSettled([connection.write(statement)])
    await new Promise(setImmediate)
    await connection.close()
    expect(reasonOf((await unknown)[0]))
      .toMatchObject({ code: 'unavailable', details: { ambiguous: true } })
    expect(reasonOf((await certain)[0])).toMatchObject({ code: 'unavailable', details: {} })
    expect(env.timers()).toBe(0)
  })

  it('repeats a read for up to three seconds', async () => {
    answers = [timedOut(), tooFew(), { rows: [], pageState: null }]
    expect((await ended(connection.read(statement))).status).toBe('fulfilled')
    answers = [tooFew()]
    const startedMs = env.monotonicMs()
    expect(reasonOf(await ended(connection.read(statement))))
      .toMatchObject({ code: 'unavailable' })
    expect(env.monotonicMs() - startedMs).toBeLessThan(3_000)
  })

  it('reads twice within two seconds if no host answers', async () => {
    const waitedMs: number[] = []
    vi.mocked(Client.prototype.execute).mockImplementation(async (...request: unknown[]) => {
      const { readTimeout } = request[2] as { readTimeout: number }
      waitedMs.push(readTimeout)
      env.advance(readTimeout)
      throw timedOut()
    })
    const startedMs = env.monotonicMs()
    expect(reasonOf(await ended(connection.read(statement))))
      .toMatchObject({ code: 'unavailable' })
    expect(waitedMs).toEqual([1_550, 400])
    // With the pause between them, and as the clock of this test continues.
    expect(env.monotonicMs() - startedMs).toBeLessThanOrEqual(2_100)
  })

  it('reads longer if its own timers come late, but not for ever', async () => {
    let reads = 0
    vi.mocked(Client.prototype.execute).mockImplementation(async (...request: unknown[]) => {
      const { readTimeout } = request[2] as { readTimeout: number }
      reads += 1
      env.advance(readTimeout + 500)
      if (reads < 5) throw timedOut()
      return { rows: [], pageState: null } as unknown as types.ResultSet
    })
    expect((await ended(connection.read(statement))).status).toBe('fulfilled')
    reads = Number.NEGATIVE_INFINITY
    const startedMs = env.monotonicMs()
    expect(reasonOf(await ended(connection.read(statement))))
      .toMatchObject({ code: 'unavailable' })
    expect(env.monotonicMs() - startedMs).toBeLessThan(10_000)
  })

  it('never repeats a compare-and-set by itself', async () => {
    answers = [timedOut()]
    expect(reasonOf(await ended(connection.swap(statement)))).toBeInstanceOf(AmbiguousSwap)
    expect(sent.length).toBe(1)
    answers = [new errors.NoHostAvailableError({})]
    expect(reasonOf(await ended(connection.swap(statement)))).toMatchObject({ code: 'unavailable' })
    expect(sent.length).toBe(2)
  })
})
