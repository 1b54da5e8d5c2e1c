/** Runs of one thread, from request to end, on a scripted graph host. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { FeedEvent } from '../../../../src/thread/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { updates } from '../../../support/scripted-host.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

const listed = async (
  house: ThreadHouse,
) => (await house.client.listRuns({ tenant: 't', threadId: 'x', limit: 1_000, offset: 0 }))

describe('a thread with a run', () => {
  it('is busy until the run ends, and then idle with the state of the run', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    expect((await house.client.get('t', 'x')).row.status).toBe('busy')
    const result = house.client.joinRun('t', 'x', run.runId)
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only)
    expect(await result).toBe('{"log":["one"]}')
    const { row, values } = await house.client.get('t', 'x')
    expect([row.status, values]).toEqual(['idle', '{"log":["one"]}'])
  })

  it('is interrupted if the graph waits, and shows the interrupts', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const result = house.client.joinRun('t', 'x', run.runId)
    await house.host.step(house.host.only, 'one')
    const interrupts = '{"task":[{"id":"i","value":"sure?"}]}'
    house.host.end(house.host.only, { waiting: true, interrupts })
    expect(JSON.parse(await result)).toEqual(
      { log: ['one'], __interrupt__: [{ id: 'i', value: 'sure?' }] },
    )
    const { row } = await house.client.get('t', 'x')
    expect([row.status, row.interruptsJson]).toEqual(['interrupted', interrupts])
    expect((await house.client.getRun('t', 'x', run.runId)).status).toBe('success')
  })

  it('has status error if the graph threw, and the result is the error', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const result = house.client.joinRun('t', 'x', run.runId)
    house.host.end(house.host.only, { status: 'error',
      error: { error: 'TypeError', message: 'boom' } })
    expect(JSON.parse(await result))
      .toEqual({ __error__: { error: 'TypeError', message: 'boom' } })
    expect((await house.client.get('t', 'x')).row.status).toBe('error')
  })
})

describe('a second run', () => {
  const first = async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    await house.host.step(house.host.only, 'first')
    return { house, firstId: run.runId }
  }

  it('is refused under reject', async () => {
    const { house } = await first()
    await expect(house.startRun('x', { strategy: 'reject' })).rejects.toThrow(/already running/)
  })

  it('waits its turn under enqueue', async () => {
    const { house, firstId } = await first()
    const second = house.run()
    await house.client.startRun('t', 'x', second)
    expect(house.host.only.execution.runId).toBe(firstId)
    house.host.end(house.host.only)
    await settled()
    expect(house.host.only.execution.runId).toBe(second.runId)
  })

  it('of another graph leaves the first run the values of its own graph', async () => {
    const house = new ThreadHouse()
    const describe = house.host.describe.bind(house.host)
    house.host.describe = (id) =>
      id === 'other'
        ? { ...describe('agent')!, graphId: 'other', stateChannels: ['foo'] }
        : describe(id)
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const scripted = house.host.only
    const seen: string[] = []
    await house.client.followRun('t', 'x', run.runId, { after: null, modes: ['values'] }, {
      events: (batch) =>
        void seen.push(...batch.flatMap(({ name, json }) => name === 'values' ? [json] : [])),
      ended: () => {},
    })
    const result = house.client.joinRun('t', 'x', run.runId)
    const second = house.run({ graphId: 'other' })
    await house.client.startRun('t', 'x', { ...second, plan: { ...second.plan, graphId: 'other' } })
    await house.host.step(scripted, 'one')
    await scripted.listener.steps({ steps: [], events: [
      { name: 'values', json: '', valuesOf: scripted.headId!, durable: true },
    ] })
    house.host.end(scripted)
    expect(await result).toBe('{"log":["one"]}')
    expect(seen).toEqual(['{"log":["one"]}'])
  })

  it('ends the first under interrupt and keeps what it finished', async () => {
    const { house, firstId } = await first()
    const late = house.host.only
    const second = house.run({ strategy: 'interrupt' })
    await house.client.startRun('t', 'x', second)
    expect((await house.client.getRun('t', 'x', firstId)).status).toBe('interrupted')
    await expect(house.host.step(late, 'too late')).rejects.toThrow()
    const result = house.client.joinRun('t', 'x', second.runId)
    await house.host.step(house.host.only, 'second')
    house.host.end(house.host.only)
    expect(await result).toBe('{"log":["second","first"]}')
  })

  it('removes the first and all that it wrote under rollback', async () => {
    const { house, firstId } = await first()
    const joined = house.client.joinRun('t', 'x', firstId)
    const second = house.run({ strategy: 'rollback' })
    await house.client.startRun('t', 'x', second)
    expect(JSON.parse(await joined)).toHaveProperty('__error__')
    await expect(house.client.getRun('t', 'x', firstId)).rejects.toThrow(/not found/)
    const result = house.client.joinRun('t', 'x', second.runId)
    await house.host.step(house.host.only, 'second')
    house.host.end(house.host.only)
    expect(await result).toBe('{"log":["second"]}')
  })

  it('is refused if the queue has too many runs or too many characters', async () => {
    for (const limits of [{ pendingRuns: 2 }, { pendingCharacters: 1_500 }]) {
      const house = new ThreadHouse(limits)
      const kwargs = { input: 'x'.repeat(1_000) }
      for (let i = 0; i < 3; i++) await house.startRun('x', { kwargs })
      await expect(house.startRun('x', { kwargs })).rejects.toThrow('2 runs wait on this thread')
    }
  })

  it('is refused while other threads hold all the room for inputs', async () => {
    const house = new ThreadHouse({ inputCharacters: 1_500 })
    const kwargs = { input: 'x'.repeat(1_000) }
    await house.client.startRun('t', 'x', house.run({ kwargs }))
    await house.startRun('y', { kwargs })
    await expect(house.startRun('z', { kwargs })).rejects.toMatchObject({ code: 'full' })
    await expect(house.client.get('t', 'z')).rejects.toMatchObject({ code: 'not_found' })
    house.restart()
    await Promise.all(['x', 'y'].map((id) => house.client.get('t', id)))
    await expect(house.startRun('z', { kwargs })).rejects.toMatchObject({ code: 'full' })
    const [first] = await listed(house)
    await house.client.cancelRun('t', 'x', first!.runId, { action: 'interrupt' })
    await house.startRun('z', { kwargs })
    await house.client.delete('t', 'z')
    await house.startRun('w', { kwargs })
  })

  it('is the same run if it carries the same command id', async () => {
    const house = new ThreadHouse()
    const one = await house.startRun('x', { commandId: 'k' })
    const again = await house.startRun('x', { commandId: 'k' })
    expect((again as { runId: string }).runId).toBe((one as { runId: string }).runId)
    expect(await listed(house)).toHaveLength(1)
  })
})

describe('a follow', () => {
  const follow = async (house: ThreadHouse, runId: string, after: string | null = null) => {
    const events: FeedEvent[] = []
    const { promise: ended, resolve } = Promise.withResolvers<string>()
    await house.client.followRun('t', 'x', runId, { after, modes: null }, {
      events: (batch) => void events.push(...batch),
      ended: resolve,
    })
    return { events, ended }
  }

  it('ends if its run is deleted, and finds a deleted run no more', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const { ended } = await follow(house, run.runId)
    await house.client.deleteRun('t', 'x', run.runId)
    expect(await ended).toBe('over')
    await expect(follow(house, run.runId)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('ends with an error if its thread is deleted under the run', async () => {
    const house = new ThreadHouse()
    const [ended, running] = [house.run(), house.run()]
    await house.client.startRun('t', 'x', ended)
    house.host.end(house.host.only)
    await settled()
    await house.client.startRun('t', 'x', running)
    const before = await follow(house, ended.runId)
    const { events, ended: over } = await follow(house, running.runId)
    await house.client.delete('t', 'x')
    expect(await over).toBe('over')
    expect(events.map(({ name, json }) => [name, JSON.parse(json) as object])).toEqual([
      ['metadata', expect.anything()],
      ['error', expect.objectContaining({ error: 'ThreadDeleted' })],
      ['end', { run_id: running.runId, status: 'error' }],
    ])
    expect(before.events.map(({ name }) => name)).not.toContain('error')
  })

  it('gets metadata first, then the durable events, then the end', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const { events, ended } = await follow(house, run.runId)
    await house.host.step(house.host.only, 'one', [updates('{"node":1}')])
    house.host.end(house.host.only)
    expect(await ended).toBe('over')
    expect(events.map(({ name }) => name)).toEqual(['metadata', 'updates', 'end'])
  })

  it('that comes back continues behind the last event it saw', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const before = await follow(house, run.runId)
    await house.host.step(house.host.only, 'one', [updates('1'), updates('2')])
    await settled()
    const after = await follow(house, run.runId, before.events[1]!.id)
    house.host.end(house.host.only)
    await after.ended
    expect(after.events.map(({ json }) => json)).toEqual(['2', expect.stringContaining('success')])
  })

  it('after a crash gets durable events from the log, then those of the new attempt', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    await house.host.step(house.host.only, 'one', [updates('1')])
    house.restart()
    const { events, ended } = await follow(house, run.runId)
    await settled()
    const resumed = house.host.only
    expect(resumed.execution).toMatchObject({ attempt: 1, request: { input: 'null' } })
    await house.host.step(resumed, 'two', [updates('2')])
    house.host.end(resumed)
    await ended
    expect(events.map(({ name, json }) => (name === 'updates' ? json : JSON.parse(json).attempt)))
      .toEqual([1, '1', 1, '2', undefined])
  })

  it('that comes back after a crash continues behind the last event it saw', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const before = await follow(house, run.runId)
    for (const json of ['1', '2']) await house.host.step(house.host.only, json, [updates(json)])
    await settled()
    house.restart()
    const after = await follow(house, run.runId, before.events[1]!.id)
    await settled()
    house.host.end(house.host.only)
    await after.ended
    expect(after.events.map(({ json }) => json)).toEqual(['2', expect.stringContaining('attempt'),
      expect.stringContaining('success')])
  })

  it('gets tokens, which cost no row of the log', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const { events } = await follow(house, run.runId)
    const rows = house.log.rows.length
    const token = { name: 'messages', json: '"token"', valuesOf: '', durable: false }
    await house.host.only.listener.steps({ steps: [], events: [token] })
    await settled()
    expect(events.map(({ name }) => name)).toEqual(['metadata', 'messages'])
    expect(house.log.rows).toHaveLength(rows)
  })

  it('shortly after a quick run also gets the events that are in no log', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const token = { name: 'custom', json: '"token"', valuesOf: '', durable: false }
    void house.host.step(house.host.only, 'one', [token])
    house.host.end(house.host.only)
    await settled()
    const { events, ended } = await follow(house, run.runId)
    expect(await ended).toBe('over')
    expect(events.map(({ name }) => name)).toEqual(['metadata', 'custom', 'end'])
  })

  it('of a finished run gets all durable events and the end', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    await house.host.step(house.host.only, 'one', [updates('1')])
    house.host.end(house.host.only)
    await settled()
    house.restart()
    const { events, ended } = await follow(house, run.runId)
    expect(await ended).toBe('over')
    expect(events.map(({ name }) => name)).toEqual(['metadata', 'updates', 'end'])
  })
})

describe('a step that is not on disk yet', () => {
  const held = async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const { promise, resolve } = Promise.withResolvers<void>()
    house.log.gate = promise
    return { house, runId: run.runId, release: resolve }
  }

  it('shows nowhere: in no event, no result, no state, no acknowledgement', async () => {
    const { house, runId, release } = await held()
    const applied: string[] = []
    const note = (what: string) => () => void applied.push(what)
    await house.client.followRun('t', 'x', runId, { after: null, modes: null }, {
      events: (batch) => void applied.push(...batch.map(({ name }) => name)),
      ended: note('over'),
    })
    const joined = house.client.joinRun('t', 'x', runId).then(note('result'))
    void house.host.step(house.host.only, 'one', [updates('1')]).then(note('acknowledged'))
    house.host.end(house.host.only)
    const got = house.client.get('t', 'x').then(note('state'))
    await settled()
    expect(applied).toEqual(['metadata'])
    release()
    await Promise.all([joined, got])
    expect(applied.toSorted())
      .toEqual(['acknowledged', 'end', 'metadata', 'over', 'result', 'state', 'updates'])
  })

  it('does not hold up the next superstep', async () => {
    const { house, release } = await held()
    void house.host.step(house.host.only, 'one')
    void house.host.step(house.host.only, 'two')
    release()
    await settled()
    house.host.end(house.host.only)
    expect((await house.client.get('t', 'x')).values).toBe('{"log":["two","one"]}')
  })
})

describe('a queued run', () => {
  it('gets its own input after a crash, though it shares its first row with another', async () => {
    const house = new ThreadHouse()
    await house.startRun('x')
    const second = house.run({ kwargs: { input: 'mine' } })
    await house.client.startRun('t', 'x', second)
    await house.host.step(house.host.only, 'first')
    void house.host.step(house.host.only, 'last')
    house.host.end(house.host.only)
    await settled()
    expect(house.host.only.execution.runId).toBe(second.runId)
    house.restart()
    await house.client.get('t', 'x')
    await settled()
    expect(house.host.only.execution).toMatchObject(
      { runId: second.runId, attempt: 1, request: { input: '"mine"' } },
    )
  })
})

describe('a worker that is lost', () => {
  it('costs the run one of three attempts', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const result = house.client.joinRun('t', 'x', run.runId)
    for (const attempt of [1, 2, 3]) {
      await settled()
      expect(house.host.only.execution.attempt).toBe(attempt)
      house.host.lose(house.host.only, 'crashed')
    }
    expect(JSON.parse(await result)).toMatchObject({ __error__: { error: 'WorkerCrashed' } })
  })

  it('ends the run with an error at once if it filled the memory there on its own', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const result = house.client.joinRun('t', 'x', run.runId)
    await settled()
    house.host.lose(house.host.only, 'full')
    expect(JSON.parse(await result)).toMatchObject({ __error__: { error: 'OutOfMemory' } })
    expect(house.host.running.size).toBe(0)
  })

  it('costs no attempt if another run was to blame', async () => {
    const house = new ThreadHouse()
    await house.startRun('x')
    house.host.lose(house.host.only, 'displaced')
    await settled()
    expect(house.host.only.execution.attempt).toBe(1)
  })
})

describe('a thread under any sequence of commands', () => {
  const act = fc.oneof(
    fc.record({ do: fc.constant('start' as const),
      strategy: fc.constantFrom('enqueue', 'interrupt', 'rollback', 'reject') }),
    fc.record({ do: fc.constantFrom('step', 'end', 'fail', 'lose') }),
    fc.record({ do: fc.constant('crash' as const), lag: fc.nat(8) }),
    fc.record({ do: fc.constant('cancel' as const),
      action: fc.constantFrom('interrupt', 'rollback'), pick: fc.nat(5) }),
  )

  it('runs one run at a time, ends each once, and is the same after a restart', async () => {
    const acts = fc.array(act, { maxLength: 25 })
    await expectAlways(fc.asyncProperty(acts, fc.boolean(), async (acts, shared) => {
      const house = new ThreadHouse()
      house.log.shared = shared
      await house.startRun('x')
      for (const step of acts) {
        const [scripted] = house.host.running.values()
        if (step.do === 'start') {
          await house.startRun('x', { strategy: step.strategy as 'enqueue' }).catch(() => {})
        } else if (step.do === 'cancel') {
          const runs = await listed(house)
          const runId = runs[step.pick % Math.max(1, runs.length)]?.runId
          const cancel = { action: step.action as 'rollback' }
          if (runId) await house.client.cancelRun('t', 'x', runId, cancel)
        } else if (step.do === 'crash') {
          if (shared) house.log.loseUpdates(step.lag)
          house.restart()
          await house.client.get('t', 'x')
        } else if (scripted && step.do === 'step') {
          await house.host.step(scripted, 's', [updates('1')])
        } else if (scripted && step.do === 'end') house.host.end(scripted)
        else if (scripted && step.do === 'lose') house.host.lose(scripted, 'displaced')
        else if (scripted) {
          house.host.end(scripted, { status: 'error', error: { error: 'E', message: 'm' } })
        }
        await settled()
        const running = (await listed(house)).filter(({ status }) => status === 'running')
        expect(running.length).toBe(house.host.running.size)
        expect(running.length).toBeLessThanOrEqual(1)
        const unfinished = (await listed(house))
          .some(({ status }) => status === 'running' || status === 'pending')
        const { row } = await house.client.get('t', 'x')
        expect(row.status === 'busy').toBe(unfinished)
      }
      const before = await house.client.get('t', 'x')
      const runs = await listed(house)
      if (shared) house.log.loseUpdates(3)
      house.restart()
      const after = await house.client.get('t', 'x')
      expect(after.values).toBe(before.values)
      expect(after.row.head).toEqual(before.row.head)
      expect(after.row.metadataJson).toBe(before.row.metadataJson)
      const ids = (rows: typeof runs) => rows.map(({ runId }) => runId)
      expect(ids(await listed(house))).toEqual(ids(runs))
    }), { share: 10 })
  })
})
