/** Edits of a thread's state and copies of a thread, on a scripted graph host. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

const update = { values: '{"log":["edit"]}', command: null, asNode: null }

const withGraph = async (limits: ConstructorParameters<typeof ThreadHouse>[0] = {}) => {
  const house = new ThreadHouse(limits)
  await house.client.create('t', {
    threadId: 'x',
    metadata: { graph_id: 'agent' },
    ifExists: 'raise',
    supersteps: [],
  })
  return house
}

describe('a state update', () => {
  it('is there as soon as it is acknowledged', async () => {
    const house = await withGraph()
    const timers = house.env.timers()
    const edited = house.client.updateState('t', 'x', { update, checkpoint: null })
    await settled()
    void house.host.step(house.host.only, 'edit')
    house.host.end(house.host.only)
    expect(JSON.parse(await edited)).toHaveProperty('checkpoint.checkpoint_id')
    expect((await house.client.get('t', 'x')).values).toBe('{"log":["edit"]}')
    expect(house.env.timers()).toBe(timers)
  })

  it.each(['unavailable', 'stale_append'] as const)(
    'that ends while the thread goes away starts no run that waited for it: %s',
    async (code) => {
      const house = await withGraph()
      const edited = house.client.updateState('t', 'x', { update, checkpoint: null })
      edited.catch(() => {})
      await settled()
      const edit = house.host.only
      const older = { ns: '', checkpointId: 'older', taskId: 'k', writes: [] }
      void edit.listener.steps({ steps: [{ $case: 'writes', value: older }], events: [] })
      await settled()
      const append = Promise.withResolvers<void>()
      append.promise.catch(() => {})
      house.log.gate = append.promise
      const started = expect(house.startRun('x')).rejects.toThrow()
      await settled()
      house.host.end(edit)
      await settled()
      house.log.gate = Promise.resolve()
      append.reject(new HeddleError(code))
      await started
      await settled()
      expect([...house.host.running.values()]).toEqual([])
    },
  )

  it('that fails changes nothing', async () => {
    const house = await withGraph()
    const edited = house.client.updateState('t', 'x', { update, checkpoint: null })
    await settled()
    void house.host.step(house.host.only, 'edit')
    house.host.end(house.host.only, { status: 'error',
      error: { error: 'InvalidUpdateError', message: 'no such node' } })
    await expect(edited).rejects.toThrow('no such node')
    expect((await house.client.get('t', 'x')).values).toBe('{}')
  })

  it('is refused while a run is unfinished', async () => {
    const house = await withGraph()
    await house.startRun('x')
    await expect(house.client.updateState('t', 'x', { update, checkpoint: null }))
      .rejects.toThrow(/busy/)
  })

  it('delays runs that come meanwhile until it is done', async () => {
    const house = await withGraph()
    const edited = house.client.updateState('t', 'x', { update, checkpoint: null })
    await settled()
    const edit = house.host.only
    await house.startRun('x')
    expect(house.host.only).toBe(edit)
    void house.host.step(edit, 'edit')
    house.host.end(edit)
    await edited
    expect(house.host.only.execution).toMatchObject({
      request: { kind: 'run' },
      headId: edit.headId,
    })
  })

  it('that creates a thread answers others that would use it as retryable', async () => {
    const house = new ThreadHouse()
    const request = { threadId: 'x', metadata: { graph_id: 'agent' }, supersteps: [[update]] }
    const made = house.client.create('t', { ...request, ifExists: 'raise' })
    await settled()
    await expect(house.client.create('t', { ...request, ifExists: 'raise' }))
      .rejects.toMatchObject({ code: 'exists' })
    await expect(house.client.create('t', { ...request, ifExists: 'do_nothing' }))
      .rejects.toMatchObject({ code: 'unavailable' })
    await expect(house.client.startRun('t', 'x', house.run({ ifMissing: 'create' })))
      .rejects.toMatchObject({ code: 'unavailable' })
    void house.host.step(house.host.only, 'edit')
    house.host.end(house.host.only)
    await made
    await house.client.create('t', { ...request, ifExists: 'do_nothing' })
    await house.client.startRun('t', 'x', house.run({ ifMissing: 'create' }))
  })

  it('is refused while other threads hold all the room for inputs', async () => {
    const house = await withGraph({ inputCharacters: 2 * update.values.length })
    const edit = (id: string) => house.client.updateState('t', id, { update, checkpoint: null })
    await house.client.create('t', {
      threadId: 'y',
      metadata: { graph_id: 'agent' },
      ifExists: 'raise',
      supersteps: [],
    })
    const edited = [edit('x'), edit('x')]
    await settled()
    await expect(edit('y')).rejects.toMatchObject({ code: 'full' })
    for (const done of edited) {
      await house.host.step(house.host.only, 'edit')
      house.host.end(house.host.only)
      await done
    }
    void edit('y')
    await settled()
    expect(house.host.only.execution.threadId).toBe('y')
  })

  it('that hangs is given up after a minute', async () => {
    const house = await withGraph()
    const edited = house.client.updateState('t', 'x', { update, checkpoint: null })
    await settled()
    house.env.advance(60_000)
    await expect(edited).rejects.toThrow(/too long/)
    expect(house.host.running.size).toBe(0)
  })

  it('is refused if too many wait on its thread', async () => {
    const house = await withGraph({ pendingEdits: 2 })
    const edit = () => house.client.updateState('t', 'x', { update, checkpoint: null })
    for (const _ of ['begins', 'waits', 'waits']) edit().catch(() => {})
    await settled()
    await expect(edit()).rejects.toMatchObject({ code: 'full' })
  })

  it('is refused with those behind it if its thread is deleted, and frees its room', async () => {
    const house = await withGraph({ inputCharacters: 2 * update.values.length })
    const edit = () =>
      house.client.updateState('t', 'x', { update, checkpoint: null })
        .catch(({ code }) => code as string)
    const edited = [edit(), edit()]
    await settled()
    await house.client.delete('t', 'x')
    expect(await Promise.all(edited)).toEqual(['not_found', 'not_found'])
    expect(house.host.running.size).toBe(0)
    await house.startRun('y')
  })
})

describe('a thread that starts with a state', () => {
  const create = (house: ThreadHouse) =>
    house.client.create('t', {
      threadId: 'y',
      metadata: { graph_id: 'agent' },
      ifExists: 'raise',
      supersteps: [[update]],
    })

  it('holds it when it is created', async () => {
    const house = new ThreadHouse()
    const created = create(house)
    await settled()
    void house.host.step(house.host.only, 'edit')
    house.host.end(house.host.only, { waiting: true })
    expect(await created).toMatchObject({ values: '{"log":["edit"]}', row: { status: 'idle' } })
  })

  it('is not created at all when the state cannot be made', async () => {
    const house = new ThreadHouse()
    const created = create(house)
    await settled()
    house.host.end(house.host.only, { status: 'error',
      error: { error: 'InvalidUpdateError', message: 'no such node' } })
    await expect(created).rejects.toThrow('no such node')
    await expect(house.client.get('t', 'y')).rejects.toThrow(/not found/)
    house.restart()
    await expect(house.client.get('t', 'y')).rejects.toThrow(/not found/)
  })
})

describe('a copy', () => {
  const source = async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'shared')
    return house
  }

  it('has the state of its source and is independent of it from then on', async () => {
    const house = await source()
    const copy = await house.client.copy('t', 'x')
    const copyId = copy.row.threadId
    expect(copy.values).toBe('{"log":["shared"]}')
    await house.runOnce(copyId, 'only the copy')
    await house.runOnce('x', 'only the source')
    for (const restarted of [false, true]) {
      if (restarted) house.restart()
      const valuesOf = async (id: string) => (await house.client.get('t', id)).values
      expect(await valuesOf(copyId)).toBe('{"log":["only the copy","shared"]}')
      expect(await valuesOf('x')).toBe('{"log":["only the source","shared"]}')
    }
  })

  it('costs one row, however long the source is', async () => {
    const house = await source()
    for (let i = 0; i < 5; i++) await house.runOnce('x', 'more')
    const rows = house.log.rows.length
    await house.client.copy('t', 'x')
    expect(house.log.rows.length).toBe(rows + 1)
  })
})

describe('a deleted thread', () => {
  it('stays deleted when the member dies before it was purged', async () => {
    const house = await withGraph()
    const purge = house.log.purge.bind(house.log)
    house.log.purge = () => new Promise(() => {})
    void house.client.delete('t', 'x')
    await settled()
    house.log.purge = purge
    house.restart()
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
    expect(house.log.purged).toHaveLength(1)
  })

  it('is gone, and its id can be used again for an empty thread', async () => {
    const house = await withGraph()
    await house.startRun('x')
    await house.host.step(house.host.only, 'old')
    await house.client.delete('t', 'x')
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
    await house.client.create('t', { threadId: 'x', metadata: {}, ifExists: 'raise',
      supersteps: [] })
    expect((await house.client.get('t', 'x')).values).toBe('{}')
  })
})
