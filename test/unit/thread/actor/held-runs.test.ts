/** Stateless runs that somebody waits for: kept back from the disk until anybody else may know. */

import { describe, expect, it } from 'vitest'

import type { StartRun } from '../../../../src/thread/index.ts'
import { updates } from '../../../support/scripted-host.ts'
import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'

const interrupt = { action: 'interrupt' } as const

/** A stateless run, as the front door asks for one whose caller waits. */
function stateless(changes: Partial<StartRun> = {},
  plan: Partial<StartRun['plan']> = {}): StartRun {
  const run = aRun('x', { ifMissing: 'hidden', awaited: true, ...changes })
  return { ...run, plan: { ...run.plan, temporary: true, ...plan } }
}

/** One that has made a step; `result` is what its caller gets. */
async function begun(house = new ThreadHouse()) {
  const left = new AbortController()
  const { result } = await house.client.startAndWait('t', 'x', stateless())
  const answer = result(left.signal)
  answer.catch(() => {})
  await house.host.step(house.host.only, 'one', [updates('1')])
  await settled()
  expect([house.log.rows, house.log.updates]).toEqual([[], []])
  return { house, answer, left }
}

/** The disk takes nothing until `go`. */
function holdDisk({ log }: ThreadHouse): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  log.gate = promise
  return resolve
}

describe.each([false, true])('a stateless run that is waited for (shared log: %s)', (shared) => {
  const newHouse = () => {
    const house = new ThreadHouse()
    house.log.shared = shared
    return house
  }

  it('leaves no row, nothing to remove, and no actor', async () => {
    const house = newHouse()
    house.billing = false
    house.restart()
    for (const end of [{}, { waiting: true, interrupts: '{"t":[{"id":"i","value":"?"}]}' }, {
      status: 'error',
      error: { error: 'TypeError', message: 'boom' },
    }] as const) {
      const { answer } = await begun(house)
      house.host.end(house.host.only, end)
      expect(JSON.parse(await answer)).toEqual('error' in end
        ? { __error__: end.error }
        : { log: ['one'], ...'waiting' in end && { __interrupt__: [{ id: 'i', value: '?' }] } })
      await settled()
      house.env.advance(61_000)
      await settled()
      expect([house.log.rows, house.log.updates, house.log.purged]).toEqual([[], [], []])
      expect([house.activations.size, house.heldRuns.countOf('t')]).toEqual([0, 0])
    }
    expect(house.endedRuns.map(({ status }) => status)).toEqual(['success', 'success', 'error'])
  })

  it('is billed by one row, before its caller has the result', async () => {
    const { house, answer } = await begun(newHouse())
    const go = holdDisk(house)
    let isAnswered = false
    void answer.then(() => {
      isAnswered = true
    })
    house.host.end(house.host.only)
    await settled()
    expect(isAnswered).toBe(false)
    go()
    await answer
    await settled()
    expect(house.log.rows).toEqual([])
    expect(house.log.updates).toMatchObject([{ table: 'billing', row: { runId: 'x' } }])
  })
})

const asks: Readonly<Record<string, (house: ThreadHouse) => Promise<unknown>>> = {
  'its thread': ({ client }) => client.get('t', 'x'),
  'its row': ({ client }) => client.getRun('t', 'x', 'x'),
  'the runs of its thread': ({ client }) =>
    client.listRuns({ tenant: 't', threadId: 'x', limit: 9, offset: 0 }),
  'its first event': ({ client }) =>
    new Promise((seen, failed) => {
      client.followRun('t', 'x', 'x', { after: null, modes: null }, { events: seen, ended: failed })
        .catch(failed)
    }),
  'a cancel': ({ client }) => client.cancelRun('t', 'x', 'x', interrupt),
  'a patch': ({ client }) => client.patch('t', 'x', { a: 1 }),
  'a copy': ({ client }) => client.copy('t', 'x'),
  'another run': (house) => house.startRun('x'),
  'a search': ({ heldRuns }) => heldRuns.written('t'),
}

describe('a run that is kept back is on disk before anybody gets', () => {
  it.each(Object.entries(asks))('%s', async (_, ask) => {
    const { house } = await begun()
    const go = holdDisk(house)
    let isAnswered = false
    const asked = ask(house).then(() => {
      isAnswered = true
    })
    await settled()
    expect([isAnswered, house.log.rows.length]).toEqual([false, 0])
    go()
    await asked
    expect(house.log.rows.length).toBeGreaterThan(0)
    expect(house.log.updates.map(({ table }) => table)).toEqual(
      expect.arrayContaining(['run', 'thread']),
    )
  })
})

/** The execution is about to do an effect, once the intent is acknowledged. */
function intend(house: ThreadHouse): Promise<void> {
  const { headId, listener } = house.host.only
  const note = { $case: 'intended', value: { key: 'k', hash: 'h', once: 'key' } } as const
  return listener.steps({ events: [],
    steps: [{ $case: 'writes',
      value: { ns: '', checkpointId: headId!, taskId: 'task', writes: [],
        effect: { rule: 'charge', ordinal: 0, atMs: 0, note } } }] })
}

it('is written before an effect of it is done', async () => {
  const { house } = await begun()
  const go = holdDisk(house)
  let isAcknowledged = false
  const intended = intend(house).then(() => {
    isAcknowledged = true
  })
  await settled()
  expect(isAcknowledged).toBe(false)
  go()
  await intended
  expect(house.log.updates.map(({ table }) => table)).toEqual(
    expect.arrayContaining(['run', 'thread']),
  )
})

const ends: Readonly<Record<string, (run: Awaited<ReturnType<typeof begun>>) => unknown>> = {
  'its caller leaves': ({ left }) => left.abort(),
  'two seconds have passed': ({ house }) => house.env.advance(2_000),
  'it has written much': ({ house }) => house.host.step(house.host.only, 'x'.repeat(1_100_000)),
  'its worker is lost': ({ house }) => house.host.lose(house.host.only, 'crashed'),
  'its member ends': ({ house }) => {
    void house.activations.close(new AbortController().signal)
    house.host.end(house.host.only, { status: 'drained' })
  },
  'its member ends at once': ({ house }) => void house.activations.close(AbortSignal.abort()),
}

describe('a run that is kept back is written, and goes on after a crash, when', () => {
  it.each(Object.entries(ends))('%s', async (_, end) => {
    const run = await begun()
    const { house } = run
    void end(run)
    await settled()
    expect(house.log.rows.length).toBeGreaterThan(0)
    house.restart()
    const { row } = await house.client.get('t', 'x')
    expect([row.status, row.hidden]).toEqual(['busy', true])
    const result = house.client.joinRun('t', 'x', 'x')
    await settled()
    const [again] = house.host.running.values()
    expect(again?.execution.headId ?? null).not.toBe(null)
    await house.host.step(again!, 'two')
    house.host.end(again!)
    expect(JSON.parse(await result).log.slice(0, 1)).toEqual(['two'])
    await settled()
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
  })

  it('there is no room for it beside others', async () => {
    const house = new ThreadHouse({ inputCharacters: 1_000 })
    await begun(house)
    const x = house.host.only
    await house.startRun('y', { kwargs: { input: 'y'.repeat(2_000) } })
    const rows = house.log.rows.length
    await house.host.step(x, 'two')
    await settled()
    expect(house.log.rows).toHaveLength(rows + 1)
  })
})

describe('a stateless run is on disk soon if', () => {
  const others: Readonly<
    Record<string, () => StartRun>
  > = {
    'it has a key': () => stateless({ commandId: 'key' }),
    'it runs in the background': () => stateless({ awaited: false }),
    'it can be resumed': () => stateless({}, { resumable: true }),
    'it owes a webhook': () => stateless({}, { webhook: 'https://a.example' }),
    'a cron has made it': () => stateless({}, { due: { cronId: 'c', dueMs: 1 } }),
    'each step is to be on disk': () => stateless({ kwargs: { input: {}, durability: 'sync' } }),
    'its thread is kept': () => stateless({ ifMissing: 'create' }, { temporary: false }),
    'it was started before': () => stateless({ again: true }),
  }
  it.each(Object.entries(others))('%s', async (_, make) => {
    const house = new ThreadHouse()
    void house.client.startRun('t', 'x', make())
    await settled()
    house.env.advance(200)
    await settled()
    expect(house.log.rows).toHaveLength(1)
  })
})

describe('a run that is kept back', () => {
  it('asks for no ownership check as long as nobody else asks for it', async () => {
    const house = new ThreadHouse()
    let checks = 0
    house.check = { state: 'open', closing: new Promise(() => {}), mark: () => 0,
      confirmed: () => false, confirm: async () => void checks++ }
    house.restart()
    for (const isAsked of [false, true]) {
      const { answer } = await begun(house)
      if (isAsked) await house.client.getRun('t', 'x', 'x')
      house.host.end(house.host.only)
      await answer
      await settled()
      expect(checks).toBe(isAsked ? 1 : 0)
      house.log.rows.length = house.log.updates.length = 0
    }
  })

  it('is gone with its owner', async () => {
    const { house } = await begun()
    house.restart()
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
    expect([house.log.rows, house.log.updates]).toEqual([[], []])
  })

  it('is answered to a caller who comes when it has ended', async () => {
    const house = new ThreadHouse()
    await house.client.startAndWait('t', 'x', stateless())
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only)
    await settled()
    expect(await house.client.joinRun('t', 'x', 'x')).toBe('{"log":["one"]}')
    await settled()
    expect([house.log.rows, house.activations.size]).toEqual([[], 0])
  })

  it('is on disk before an edit of what it left is answered', async () => {
    const house = new ThreadHouse()
    await house.client.startAndWait('t', 'x', stateless())
    house.host.end(house.host.only)
    await settled()
    const go = holdDisk(house)
    let isAnswered = false
    const edited = house.inbound.ask({ kind: 'thread', tenant: 't', id: 'x' }, { type: 'edit',
      update: { update: { values: '{}', command: null, asNode: null }, checkpoint: null } }, {})
      .then(() => {
        isAnswered = true
      })
    await settled()
    void house.host.step(house.host.only, 'edited')
    house.host.end(house.host.only)
    await settled()
    expect(isAnswered).toBe(false)
    go()
    await edited
    expect(house.log.rows.length).toBeGreaterThan(0)
  })

  it('reads its own checkpoints', async () => {
    const { house } = await begun()
    const { source, headId } = house.host.only
    expect(await source.tuple('', headId)).toMatchObject({ id: headId, newest: true })
    expect(await source.tuple('sub', null)).toBe(undefined)
    const listed = await source.list({ ns: '', checkpointId: null, before: null, limit: 9,
      filter: null })
    expect(listed).toHaveLength(1)
    expect(house.log.rows).toEqual([])
  })

  it('that a search has written is removed when it has ended', async () => {
    const { house, answer } = await begun()
    await house.heldRuns.written('t')
    house.host.end(house.host.only)
    expect(await answer).toBe('{"log":["one"]}')
    await settled()
    expect(house.log.purged).toHaveLength(1)
    expect(house.activations.size).toBe(0)
  })

  it('counts for its tenant as long as it runs', async () => {
    const { house, answer } = await begun()
    expect([house.heldRuns.countOf('t'), house.heldRuns.countOf('u')]).toEqual([1, 0])
    house.host.end(house.host.only)
    await answer
    await settled()
    expect(house.heldRuns.countOf('t')).toBe(0)
  })
})

describe('the caller of a run that is kept back, at another member,', () => {
  const asked = async () => {
    const pair = new ThreadPair()
    const { result } = await pair.client.startAndWait('t', 'x', stateless())
    const answer = result()
    await settled()
    await pair.host.step(pair.host.only, 'one')
    return { pair, answer }
  }

  it('starts it again if its owner dies, and then it is on disk', async () => {
    const { pair, answer } = await asked()
    pair.kill()
    for (let i = 0; i < 3; i++) {
      await settled()
      pair.env.advance(250)
    }
    await settled()
    expect([pair.log.rows.length, pair.host.only.headId]).toEqual([1, null])
    await pair.host.step(pair.host.only, 'again')
    pair.host.end(pair.host.only)
    expect(await answer).toBe('{"log":["again"]}')
  })

  it('gets what the next owner makes of it if its thread is handed over', async () => {
    const { pair, answer } = await asked()
    const [before] = pair.host.running.values()
    const { host } = pair
    const handed = pair.handOver()
    await settled()
    expect(pair.log.rows).toHaveLength(1)
    host.end(before!, { status: 'drained' })
    await handed
    await settled()
    for (let i = 0; i < 3; i++) {
      pair.env.advance(250)
      await settled()
    }
    expect(pair.host.only.headId).toBe(before!.headId)
    await pair.host.step(pair.host.only, 'two')
    pair.host.end(pair.host.only)
    expect(await answer).toBe('{"log":["two","one"]}')
  })
})
