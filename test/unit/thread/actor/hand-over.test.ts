/** Runs whose owner changes: by a hand-over at a superstep boundary, or because it died. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { FeedEvent, FeedListener } from '../../../../src/thread/index.ts'
import { updates } from '../../../support/scripted-host.ts'
import { aRun, settled } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'

function reading() {
  const seen: FeedEvent[] = []
  const end = Promise.withResolvers<string>()
  const listener: FeedListener = {
    events: (batch) => void seen.push(...batch),
    ended: (how) => end.resolve(how),
  }
  return { seen, ended: end.promise, listener }
}

const everything = { after: null, modes: null }

/** A run that has made one superstep, and a reader of its events. */
async function begun() {
  const pair = new ThreadPair()
  const run = aRun('r')
  await pair.client.startRun('t', 'x', run)
  const reader = reading()
  const stop = await pair.client.followRun('t', 'x', 'r', everything, reader.listener)
  await step(pair, 1)
  return { pair, run, reader, stop }
}

async function step(pair: ThreadPair, number: number): Promise<void> {
  await pair.host.step(pair.host.only, `s${number}`, [updates(`${number}`), { name: 'messages',
    json: `"token ${number}"`, valuesOf: '', durable: false }])
  await settled()
}

const noted = (events: readonly FeedEvent[], name: string) =>
  events.filter((event) => event.name === name).map(({ json }) => json)

describe('a run whose thread is handed over', () => {
  it('continues at its next superstep as the same attempt, and sends no event twice', async () => {
    const { pair, reader } = await begun()
    const result = pair.client.joinRun('t', 'x', 'r')
    const { host } = pair
    const { only } = host
    const handed = pair.handOver()
    await settled()
    expect(host.paused).toEqual(new Set([only.execution.id]))
    // The current superstep ends here.
    await host.step(only, 's2', [updates('2')])
    host.end(only, { status: 'drained' })
    await handed
    await settled()
    expect(pair.host.only.execution.attempt).toBe(1)
    await step(pair, 3)
    pair.host.end(pair.host.only)
    expect(await reader.ended).toBe('over')
    expect(noted(reader.seen, 'updates')).toEqual(['1', '2', '3'])
    expect(noted(reader.seen, 'metadata').map((json) => JSON.parse(json).attempt)).toEqual([1, 1])
    expect(new Set(reader.seen.map(({ id }) => id)).size).toBe(reader.seen.length)
    await againIn(pair)
    expect(await result).toBe('{"log":["s3","s2","s1"]}')
    expect((await pair.client.getRun('t', 'x', 'r')).attempt).toBe(1)
  })

  it('keeps the rest of its time limit, without the time between the two owners', async () => {
    const pair = new ThreadPair()
    await pair.client.startRun('t', 'x',
      aRun('r', { plan: { ...aRun('').plan, timeoutMs: 60_000 } }))
    await step(pair, 1)
    pair.env.advance(40_000)
    const { only } = pair.host
    const handed = pair.handOver()
    await settled()
    pair.host.end(only, { status: 'drained' })
    await handed
    await settled()
    pair.env.advance(19_000)
    await settled()
    expect((await pair.client.getRun('t', 'x', 'r')).status).toBe('running')
    pair.env.advance(1_000)
    await settled()
    expect((await pair.client.getRun('t', 'x', 'r')).status).toBe('timeout')
  })

  it('continues as the same attempt if it waited for a store that had failed', async () => {
    const { pair } = await begun()
    const append = pair.log.append.bind(pair.log)
    pair.log.append = () => Promise.reject(new HeddleError('unavailable'))
    await expect(pair.host.step(pair.host.only, 's2')).rejects.toThrow()
    pair.log.append = append
    expect((await pair.client.get('t', 'x')).row.status).toBe('busy')
    expect(pair.host.running.size).toBe(0)
    await pair.handOver()
    await settled()
    expect(pair.host.only.execution.attempt).toBe(1)
  })

  it('continues once its attempt is in the log; its events also wait for the tables', async () => {
    const { pair, reader } = await begun()
    const gate = Promise.withResolvers<void>()
    pair.log.late = (rows) => rows.some(({ epoch }) => epoch > 1) ? gate.promise : Promise.resolve()
    const handed = pair.handOver(AbortSignal.abort())
    await settled()
    expect(pair.host.only.execution.attempt).toBe(1)
    void step(pair, 2)
    await settled()
    expect(noted(reader.seen, 'updates')).toEqual(['1'])
    gate.resolve()
    await handed
    await settled()
    pair.host.end(pair.host.only)
    expect(await reader.ended).toBe('over')
    expect(noted(reader.seen, 'updates')).toEqual(['1', '2'])
  })

  it('continues from the head that was read with its attempt, without another read', async () => {
    const { pair } = await begun()
    await pair.handOver(AbortSignal.abort())
    await settled()
    const { only } = pair.host
    const { rowsRead } = pair.log
    const head = await only.source.tuple('', null)
    expect(head?.id).toBe(only.execution.headId)
    expect(pair.log.rowsRead).toBe(rowsRead)
    await step(pair, 2)
    expect(await only.source.tuple('', null)).toMatchObject({ id: only.headId, parentId: head?.id })
  })

  it('sees writes that were added to the head after that was read', async () => {
    const { pair } = await begun()
    await pair.handOver(AbortSignal.abort())
    await settled()
    const { only } = pair.host
    await only.listener.steps({ events: [], steps: [{ $case: 'writes', value: {
      ns: '',
      checkpointId: only.headId!,
      taskId: 'task',
      writes: [],
    } }] })
    expect((await only.source.tuple('', null))?.writes).toHaveLength(1)
  })

  it('sends all tokens of the superstep that it finished', async () => {
    const { pair, reader } = await begun()
    const { host } = pair
    const handed = pair.handOver()
    await settled()
    const gate = Promise.withResolvers<void>()
    pair.log.gate = gate.promise
    void host.step(host.only, 's2', [
      { name: 'messages', json: '"token 2"', valuesOf: '', durable: false },
    ])
    host.end(host.only, { status: 'drained' })
    await settled()
    gate.resolve()
    await handed
    await settled()
    expect(noted(reader.seen, 'messages')).toEqual(['"token 1"', '"token 2"'])
  })

  it('is cut short if its superstep does not end in time, as the same attempt', async () => {
    const { pair, reader } = await begun()
    const { host } = pair
    const deadline = new AbortController()
    const handed = pair.handOver(deadline.signal)
    await settled()
    expect(host.running.size).toBe(1)
    deadline.abort()
    await handed
    await settled()
    expect(host.running.size).toBe(0)
    expect(pair.host.only.execution.attempt).toBe(1)
    await step(pair, 2)
    pair.host.end(pair.host.only)
    expect(await reader.ended).toBe('over')
    expect(noted(reader.seen, 'updates')).toEqual(['1', '2'])
  })

  it('may end during the hand-over; then the queued run starts at the next owner', async () => {
    const { pair, reader } = await begun()
    const { host } = pair
    await pair.client.startRun('t', 'x', aRun('next'))
    const handed = pair.handOver()
    await settled()
    host.end(host.only)
    await handed
    await settled()
    expect(await reader.ended).toBe('over')
    expect(host.executions.map(({ runId }) => runId)).toEqual(['r'])
    expect(pair.host.only.execution.runId).toBe('next')
  })

  it('is handed over only after all writes have landed', async () => {
    const { pair } = await begun()
    const gate = Promise.withResolvers<void>()
    pair.log.gate = gate.promise
    void pair.host.step(pair.host.only, 's2').catch(() => {})
    let ended = false
    const handed = pair.handOver(AbortSignal.abort()).then(() => {
      ended = true
    })
    await settled()
    expect(ended).toBe(false)
    gate.resolve()
    await handed
    await settled()
    expect((await pair.client.get('t', 'x')).values).toBe('{"log":["s2","s1"]}')
  })

  it('is handed over only after a deleted thread is purged', async () => {
    const { pair } = await begun()
    const gate = Promise.withResolvers<void>()
    const purge = pair.log.purge.bind(pair.log)
    pair.log.purge = async (subject) => {
      await gate.promise
      await purge(subject)
    }
    const deleted = pair.client.delete('t', 'x')
    await settled()
    let ended = false
    const handed = pair.handOver().then(() => {
      ended = true
    })
    await settled()
    expect(ended).toBe(false)
    gate.resolve()
    await Promise.all([handed, deleted])
    expect(pair.log.rows).toEqual([])
  })

  it('is handed back at once if it has not reached a worker yet', async () => {
    const { pair, stop } = await begun()
    stop()
    const gate = Promise.withResolvers<void>()
    const read = pair.log.read.bind(pair.log)
    // To resume it, the new owner first reads which events were sent before.
    pair.log.read = async (branch, range) => {
      if (range.from < range.through && range.through < 1_000) await gate.promise
      return await read(branch, range)
    }
    pair.kill()
    await settled()
    const { host } = pair
    await pair.handOver()
    expect(host.executions).toEqual([])
    gate.resolve()
    await settled()
    expect(pair.host.only.execution).toMatchObject({ runId: 'r', attempt: 1 })
    expect(host.executions).toEqual([])
  })
})

/** A caller that waits for an owner asks again after a pause. */
async function againIn(pair: ThreadPair): Promise<void> {
  pair.env.advance(250)
  await settled()
}

describe('a run whose owner is killed', () => {
  it('is followed and joined across owners, and every update is sent once', async () => {
    const { pair, reader } = await begun()
    const late = reading()
    const result = pair.client.joinRun('t', 'x', 'r')
    await step(pair, 2)
    pair.kill()
    await settled()
    await step(pair, 3)
    await pair.client.followRun('t', 'x', 'r', everything, late.listener)
    pair.kill()
    await settled()
    await step(pair, 4)
    pair.host.end(pair.host.only)
    for (const { ended, seen } of [reader, late]) {
      expect(await ended).toBe('over')
      expect(noted(seen, 'updates')).toEqual(['1', '2', '3', '4'])
      const attempts = noted(seen, 'metadata').map((json) => JSON.parse(json).attempt)
      expect(attempts).toEqual([1, 1, 1])
    }
    await againIn(pair)
    expect(await result).toBe('{"log":["s4","s3","s2","s1"]}')
  })

  it('sends nothing more to a follower that has stopped', async () => {
    const { pair, reader, stop } = await begun()
    const { length } = reader.seen
    stop()
    pair.kill()
    await settled()
    await step(pair, 2)
    expect(reader.seen).toHaveLength(length)
  })
})
