/** Failures, deletes and rollbacks in the middle of something else. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { FeedEvent } from '../../../../src/thread/index.ts'
import type { MemoryLog } from '../../../support/memory-log.ts'
import { updates } from '../../../support/scripted-host.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

const update = { values: '{}', command: null, asNode: null }
const empty = { threadId: 'x', metadata: {}, ifExists: 'do_nothing', supersteps: [] } as const

/** Sent straight to the thread: the client's delete would read the thread first. */
const deletedNow = ({ inbound }: ThreadHouse) =>
  inbound.ask({ kind: 'thread', tenant: 't', id: 'x' }, { type: 'delete' })

const resumeWrite = (checkpointId: string) => ({ $case: 'writes' as const, value: {
  ns: '',
  checkpointId,
  taskId: 'task',
  writes: [
    { index: -4, channel: '__resume__', value: { json: '["yes"]', form: 0 as const } },
  ],
} })

describe('a rollback', () => {
  const answered = async () => {
    const house = new ThreadHouse()
    await house.startRun('x')
    await house.host.step(house.host.only, 'asks')
    const headId = house.host.only.headId!
    house.host.end(house.host.only, { waiting: true, interrupts: '{"task":[{"value":"ok?"}]}' })
    await settled()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const { listener } = house.host.only
    await listener.steps({ steps: [resumeWrite(headId)], events: [] })
    return { house, headId, runId: run.runId }
  }

  it('takes back the resume value that the run wrote on the checkpoint before it', async () => {
    const { house, runId } = await answered()
    const before = await house.host.only.source.tuple('', null)
    expect(before!.writes).toHaveLength(1)
    await house.client.cancelRun('t', 'x', runId, { action: 'rollback' })
    await house.startRun('x')
    const { source } = house.host.only
    expect((await source.tuple('', null))!.writes).toEqual([])
    const [newest] = await source.list(
      { ns: '', checkpointId: null, before: null, limit: 1, filter: null },
    )
    expect(newest!.writes).toEqual([])
  })

  it('of a long run reads it in pieces, and later reads skip it', async () => {
    const { house, runId } = await answered()
    for (let i = 0; i < 300; i++) await house.host.step(house.host.only, 'goes on')
    const read = house.log.read.bind(house.log)
    let most = 0
    house.log.read = async (branch, range) => {
      const rows = await read(branch, range)
      most = Math.max(most, rows.length)
      return rows
    }
    await house.client.cancelRun('t', 'x', runId, { action: 'rollback' })
    expect(most).toBeLessThan(300)
    await house.startRun('x')
    await settled()
    house.log.rowsRead = 0
    expect((await house.host.only.source.tuple('', null))!.writes).toEqual([])
    expect(house.log.rowsRead).toBeLessThan(100)
  })

  it('that fails leaves the run running', async () => {
    const { house, runId } = await answered()
    const read = house.log.read.bind(house.log)
    house.log.read = () => Promise.reject(new HeddleError('unavailable', 'the disk is away'))
    const cancel = { action: 'rollback' } as const
    await expect(house.client.cancelRun('t', 'x', runId, cancel)).rejects.toThrow('away')
    house.log.read = read
    expect(house.host.only.execution.runId).toBe(runId)
    house.host.end(house.host.only)
    await settled()
    expect((await house.client.get('t', 'x')).row.status).toBe('idle')
  })

  it('ends a later follow with an error, without the values that were taken back', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    const plan = { ...run.plan, resumable: true }
    await house.client.startRun('t', 'x', { ...run, plan })
    const scripted = house.host.only
    await house.host.step(scripted, 'one')
    await scripted.listener.steps({ steps: [], events: [
      { name: 'values', json: '', valuesOf: scripted.headId!, durable: true },
    ] })
    await house.host.step(scripted, 'two')
    await house.client.cancelRun('t', 'x', run.runId, { action: 'rollback' })
    const events: FeedEvent[] = []
    const { promise: ended, resolve } = Promise.withResolvers<string>()
    await house.client.followRun('t', 'x', run.runId, { after: null, modes: null }, {
      events: (batch) => void events.push(...batch),
      ended: resolve,
    })
    expect(await ended).toBe('over')
    expect(events.map(({ name }) => name)).toEqual(['metadata', 'error', 'end'])
  })
})

describe('a thread whose disk failed once', () => {
  it('resumes its run by itself', async () => {
    const house = new ThreadHouse()
    await house.startRun('x')
    const append = house.log.append.bind(house.log)
    house.log.append = () => Promise.reject(new HeddleError('unavailable', 'the disk is full'))
    await expect(house.host.step(house.host.only, 'lost')).rejects.toThrow('full')
    house.log.append = append
    await settled()
    expect(house.host.running.size).toBe(0)
    // Its thread lives again after one second, and its run waits for two.
    for (const ms of [1_000, 2_000]) {
      house.env.advance(ms)
      await settled()
    }
    expect(house.host.only.execution).toMatchObject({ attempt: 1 })
  })

  it('refuses a command that cannot be encoded, and stays usable', async () => {
    const house = new ThreadHouse()
    await expect(house.startRun('x', { afterMs: 0.5 })).rejects.toThrow()
    await house.startRun('x')
    expect(house.host.running.size).toBe(1)
  })
})

describe('a delete', () => {
  it('during an edit does not block runs of the next thread with that id', async () => {
    const house = new ThreadHouse()
    await house.client.create('t', { ...empty, metadata: { graph_id: 'agent' } })
    const edited = house.client.updateState('t', 'x', { update, checkpoint: null })
    const refused = expect(edited).rejects.toThrow('deleted')
    await settled()
    await house.client.delete('t', 'x')
    await refused
    await house.startRun('x')
    expect(house.host.running.size).toBe(1)
  })

  it('whose purge failed halfway is finished at the next load', async () => {
    const house = new ThreadHouse()
    house.log.shared = true
    await house.client.create('t', empty)
    const purge = house.log.purge.bind(house.log)
    house.log.purge = async () => {
      house.log.rows.length = 0
      throw new HeddleError('unavailable', 'the store is away')
    }
    await house.client.delete('t', 'x')
    house.log.purge = purge
    house.restart()
    await expect(house.client.get('t', 'x')).rejects.toMatchObject({ code: 'not_found' })
    expect(house.log.purged).toMatchObject([{ table: 'thread', id: 'x' }])
  })

  it('ends follows and joins only after it is on disk', async () => {
    for (const written of [true, false]) {
      const house = new ThreadHouse()
      const run = house.run()
      await house.client.startRun('t', 'x', run)
      const seen: string[] = []
      await house.client.followRun('t', 'x', run.runId, { after: null, modes: null }, {
        events: () => {},
        ended: (how) => void seen.push(how),
      })
      const joined = house.client.joinRun('t', 'x', run.runId)
      joined.catch(({ code }: HeddleError) => void seen.push(code))
      await settled()
      const disk = Promise.withResolvers<void>()
      const append = house.log.append.bind(house.log)
      house.log.append = async (...given) => {
        await disk.promise
        return append(...given)
      }
      const deleted = house.client.delete('t', 'x').catch(() => 'not')
      await settled()
      expect(seen).toEqual([])
      if (written) disk.resolve()
      else disk.reject(new HeddleError('unavailable'))
      house.log.append = append
      expect(await deleted).toBe(written ? undefined : 'not')
      await settled()
      // If the thread was not deleted, follower and joiner keep waiting.
      expect(seen).toEqual(written ? ['over', 'not_found'] : [])
    }
  })

  it('is acknowledged even if the store cannot purge yet, which is tried again', async () => {
    const house = new ThreadHouse()
    await house.client.create('t', empty)
    const purge = house.log.purge.bind(house.log)
    house.log.purge = () => Promise.reject(new HeddleError('unavailable'))
    await house.client.delete('t', 'x')
    await expect(house.client.delete('t', 'x')).rejects.toMatchObject({ code: 'not_found' })
    house.log.purge = purge
    house.env.advance(1_000)
    await settled()
    expect(house.log.purged).toMatchObject([{ table: 'thread', id: 'x' }])
  })

  it('does not retry a purge that fails for good', async () => {
    const house = new ThreadHouse()
    await house.client.create('t', empty)
    let tries = 0
    house.log.purge = async () => {
      tries++
      throw new Error('never')
    }
    await house.client.delete('t', 'x')
    for (let second = 0; second < 100; second++) {
      house.env.advance(1_000)
      await settled()
    }
    expect(tries).toBe(1)
  })

  it('that arrives together with a create ends the old log and begins a new one', async () => {
    const house = new ThreadHouse()
    await house.client.create('t', { ...empty, metadata: { old: true } })
    house.restart()
    const deleted = deletedNow(house)
    const created = house.client.create('t', empty)
    await deleted
    expect((await created).row.metadataJson).toBe('{}')
    const branches = house.log.rows.map(({ branch }) => branch.id)
    expect(branches.slice(0, 2)).toEqual([branches[0], branches[0]])
    expect(branches[2]).not.toBe(branches[0])
  })

  it('is on disk before anything of the next thread with that id is written', async () => {
    const house = new ThreadHouse()
    await house.client.create('t', empty)
    const disk = Promise.withResolvers<void>()
    const append = house.log.append.bind(house.log)
    let appends = 0
    house.log.append = async (...given) => {
      if (appends++ === 0) await disk.promise
      return append(...given)
    }
    const deleted = deletedNow(house)
    const created = house.client.create('t', empty)
    const started = house.startRun('x')
    await settled()
    expect(appends).toBe(1)
    disk.resolve()
    await Promise.all([deleted, created, started])
    expect(appends).toBeGreaterThan(2)
  })

  it('is purged before anything of the next thread with that id is written', async () => {
    const house = new ThreadHouse()
    await house.client.create('t', empty)
    const purge = house.log.purge.bind(house.log)
    const order: string[] = []
    const waiting: (() => void)[] = []
    house.log.purge = async (subject) => {
      await new Promise<void>((done) => waiting.push(done))
      order.push('purged')
      return purge(subject)
    }
    const append = house.log.append.bind(house.log)
    house.log.append = async (rows, ...rest) => {
      order.push(...rows.filter(({ seq }) => seq === 1).map(() => 'made'))
      return append(rows, ...rest)
    }
    const all = [deletedNow(house), house.client.create('t', empty), deletedNow(house)]
    await settled()
    all.push(house.client.create('t', empty))
    for (let purges = 0; purges < 2; purges++) {
      await settled()
      waiting.shift()!()
    }
    await Promise.all(all)
    expect(order).toEqual(['purged', 'made', 'purged', 'made'])
  })

  it('that fails also fails the create that arrived behind it', async () => {
    const house = new ThreadHouse()
    await house.client.create('t', { ...empty, metadata: { old: true } })
    const append = house.log.append.bind(house.log)
    house.log.append = async () => {
      house.log.append = append
      throw new HeddleError('unavailable')
    }
    const all = [deletedNow(house), house.client.create('t', empty)]
    for (const each of all) await expect(each).rejects.toMatchObject({ code: 'unavailable' })
    expect((await house.client.get('t', 'x')).row.metadataJson).toBe('{"old":true}')
  })

  it('that only the log knows is copied to the thread row before the log is purged', async () => {
    const house = new ThreadHouse()
    const { log } = house
    log.shared = true
    await house.client.create('t', empty)
    const behind = [...log.updates]
    log.purge = () => Promise.reject(new Error('died'))
    await house.client.delete('t', 'x')
    log.updates.splice(0, log.updates.length, ...behind)
    const kept = [...log.rows]
    // The next owner dies as well, after it removed the end of the log.
    log.purge = () => new Promise(() => log.rows.splice(1))
    house.restart()
    void house.client.get('t', 'x').catch(() => {})
    await settled()
    expect(log.rows).toEqual(kept.slice(0, 1))
    // A log whose thread was deleted cannot be opened.
    log.open = () => Promise.reject(new HeddleError('stale_append'))
    log.purge = async ({ branch: { id } }) => {
      log.rows.splice(0, log.rows.length, ...log.rows.filter(({ branch }) => branch.id !== id))
    }
    house.restart()
    await expect(house.client.get('t', 'x')).rejects.toMatchObject({ code: 'not_found' })
    expect(log.rows).toEqual([])
  })
})

/** Makes a row of an earlier owner arrive just before the next row is appended. */
function arrivesNext({ log }: ThreadHouse, late: MemoryLog['rows'][number]): void {
  const append = log.append.bind(log)
  log.append = (...given) => {
    log.append = append
    log.rows.push(late)
    return append(...given)
  }
}

describe('a log that is shared', () => {
  it('is read again if a row of an earlier owner arrives during the takeover', async () => {
    const house = new ThreadHouse()
    house.log.shared = true
    await house.client.create('t', empty)
    await house.client.patch('t', 'x', { late: true })
    const late = house.log.rows.pop()!
    house.log.updates.pop()
    house.restart()
    arrivesNext(house, late)
    expect((await house.client.get('t', 'x')).row.metadataJson).toBe('{"late":true}')
  })

  it('is taken over by one row, and its run resumes only when that is on disk', async () => {
    const house = new ThreadHouse()
    house.log.shared = true
    await house.startRun('x')
    await house.host.step(house.host.only, 'one')
    const rows = house.log.rows.length
    house.restart()
    const { promise, resolve } = Promise.withResolvers<void>()
    house.log.gate = promise
    const found = house.client.get('t', 'x')
    await settled()
    expect(house.host.running.size).toBe(0)
    resolve()
    await found
    await settled()
    expect(house.host.only.execution).toMatchObject({ attempt: 1 })
    expect(house.log.rows.length).toBe(rows + 1)
  })

  it('resumes its run once if a row of an earlier owner arrives during the takeover', async () => {
    const house = new ThreadHouse()
    house.log.shared = true
    await house.startRun('x')
    await house.host.step(house.host.only, 'one')
    await house.host.step(house.host.only, 'two')
    const { headId } = house.host.only
    const late = house.log.rows.pop()!
    house.restart()
    arrivesNext(house, late)
    await house.client.get('t', 'x')
    await settled()
    expect(house.host.only).toMatchObject({ headId, execution: { attempt: 1 } })
    expect((await house.client.listRuns({ tenant: 't', threadId: 'x', limit: 9, offset: 0 }))
      .map(({ status }) => status)).toEqual(['running'])
  })
})

describe('a run that cannot begin', () => {
  it('leaves no thread behind', async () => {
    const house = new ThreadHouse()
    const kwargs = { input: {}, checkpoint: { checkpoint_id: 'unknown' } }
    await expect(house.startRun('x', { kwargs })).rejects.toThrow(/not found/)
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
    expect(house.log.rows).toEqual([])
  })
})

describe('an interrupted thread', () => {
  it('is still interrupted after a restart and the cancel of a queued run', async () => {
    const house = new ThreadHouse()
    await house.startRun('x')
    house.host.end(house.host.only, { waiting: true, interrupts: '{"task":[]}' })
    await settled()
    const later = house.run({ afterMs: 60_000 })
    await house.client.startRun('t', 'x', later)
    house.restart()
    await house.client.cancelRun('t', 'x', later.runId, { action: 'interrupt' })
    expect((await house.client.get('t', 'x')).row.status).toBe('interrupted')
  })
})

describe('a read of the state', () => {
  it('costs no more after a thousand changes of metadata', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    for (let i = 0; i < 1_000; i++) await house.client.patch('t', 'x', { i })
    house.restart()
    house.log.rowsRead = 0
    await house.startRun('x')
    await settled()
    expect((await house.host.only.source.tuple('', null))!.id).toBe(house.host.only.headId)
    expect(house.log.rowsRead).toBeLessThan(10)
  })
})

describe('a run of a thousand steps', () => {
  it('is taken over without reading all of its steps', async () => {
    const house = new ThreadHouse()
    await house.startRun('x')
    for (let i = 0; i < 1_000; i++) await house.host.step(house.host.only, `${i}`)
    const { headId, listener } = house.host.only
    const snapshot = { ns: '', id: 'd', parentId: headId!, full: true, changes: [],
      skeletonJson: '{}', metadataJson: '{}', runId: '', atMs: 0 }
    await listener.steps({ steps: [{ $case: 'checkpoint', value: snapshot }], events: [] })
    house.restart()
    house.log.rowsRead = 0
    await house.client.get('t', 'x')
    await settled()
    expect(house.host.only.headId).toBe('d')
    expect(house.log.rowsRead).toBeLessThan(400)
  })
})

describe('the start of a run whose caller waits for the result', () => {
  it('is written together with the end if the run is quick', async () => {
    const house = new ThreadHouse()
    await house.startRun('x')
    house.host.end(house.host.only)
    await settled()
    const rows = house.log.rows.length
    const run = house.run({ awaited: true })
    await house.client.startRun('t', 'x', run)
    const result = house.client.joinRun('t', 'x', run.runId)
    void house.host.step(house.host.only, 'quick', [updates('1')])
    house.host.end(house.host.only)
    expect(await result).toBe('{"log":["quick"]}')
    expect(house.log.rows.length).toBe(rows + 1)
  })

  it('fails the waiting caller as unwritten only if it never was on disk', async () => {
    for (const written of [false, true]) {
      const house = new ThreadHouse()
      const lose = () => {
        house.log.append = () => Promise.reject(new HeddleError('unavailable'))
      }
      if (!written) lose()
      const run = house.run({ awaited: true })
      await house.client.startRun('t', 'x', run)
      const result = house.client.joinRun('t', 'x', run.runId)
      const refused = expect(result).rejects.toSatisfy(({ code, details }: HeddleError) =>
        code === 'unavailable' && details['unwritten'] === (written ? undefined : true)
      )
      house.env.advance(200)
      await settled()
      if (written) {
        lose()
        void house.host.step(house.host.only, 'late').catch(() => {})
        // The caller asks for the next owner for a minute: here there is none that could answer.
        for (let i = 0; i < 250; i++) {
          await settled()
          house.env.advance(250)
        }
      }
      await refused
      expect(house.log.rows).toHaveLength(written ? 1 : 0)
    }
  })

  it('is written soon if the run is not quick, and at once if a client asks for it', async () => {
    for (const ask of [false, true]) {
      const house = new ThreadHouse()
      const run = house.run({ awaited: true })
      await house.client.startRun('t', 'x', run)
      expect(house.log.rows).toHaveLength(0)
      if (ask) await house.client.getRun('t', 'x', run.runId)
      else house.env.advance(200)
      await settled()
      expect(house.log.rows).toHaveLength(1)
    }
  })
})
