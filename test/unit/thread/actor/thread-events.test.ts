/** Events of a whole thread: the same for who was there and for who comes later. */

import { describe, expect, it } from 'vitest'

import { settled, ThreadHouse } from '../../../support/thread-house.ts'
import { readThread, ThreadReader } from '../../../support/thread-reader.ts'

describe('a thread that is followed', () => {
  it('tells the life of a run that any endpoint made', async () => {
    const house = new ThreadHouse()
    const reader = await readThread(house.client, 'x')
    await house.runOnce('x', 'one')
    expect(reader.lines).toEqual(['lifecycle running', 'checkpoints', 'values',
      'lifecycle completed'])
    const [running, checkpoint, values, completed] = reader.all
    expect(values!.data).toBe('{"log":["one"]}')
    expect(checkpoint!.runId).toBe(running!.runId)
    expect(running!.id).toBe(`synth:${running!.runId}:${running!.seq}`)
    expect(JSON.parse(completed!.data)).toEqual({ event: 'completed', graph_name: 'agent' })
  })

  it('need not exist yet', async () => {
    const house = new ThreadHouse()
    await expect(readThread(house.client, 'x', null, 'reject')).rejects.toThrow('not found')
    const reader = await readThread(house.client, 'x')
    expect(reader.all).toEqual([])
  })

  it('asks what a run waits for before it says that the run is interrupted', async () => {
    const house = new ThreadHouse()
    const reader = await readThread(house.client, 'x')
    await house.startRun('x')
    await settled()
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only, { waiting: true,
      interrupts: '{"t":[{"id":"a","value":1},{"id":"b","value":{"q":2}}]}',
      askers: { b: 'child:1|inner:2' } })
    await settled()
    expect(reader.lines.slice(-3)).toEqual(['input.requested', 'input.requested',
      'lifecycle interrupted'])
    expect(JSON.parse(reader.all.at(-2)!.data))
      .toEqual({ interrupt_id: 'b', payload: { q: 2 }, value: { q: 2 } })
    const namespaces = reader.all.slice(-3).map(({ namespace }) => namespace)
    expect(namespaces).toEqual([[], ['child:1', 'inner:2'], []])
    house.restart()
    const later = await readThread(house.client, 'x')
    await settled()
    expect(later.all.slice(-3)).toEqual(reader.all.slice(-3))
  })

  it('shows the values that no checkpoint contains before the end of the run', async () => {
    const house = new ThreadHouse()
    const reader = await readThread(house.client, 'x')
    await house.startRun('x')
    await settled()
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only, { untracked: '{"answer":42}' })
    await settled()
    expect(reader.lines).toEqual(['lifecycle running', 'checkpoints', 'values', 'values',
      'lifecycle completed'])
    expect(reader.all.at(-2)!.data).toBe('{"log":["one"],"answer":42}')
    house.restart()
    const later = await readThread(house.client, 'x')
    await settled()
    expect(later.all).toEqual(reader.all)
  })

  it('says which interrupts a run answers by their ids', async () => {
    const house = new ThreadHouse()
    const reader = await readThread(house.client, 'x')
    const id = 'a'.repeat(32)
    await house.startRun('x', { kwargs: { command: { resume: { [id]: 1 } } } })
    await settled()
    expect(reader.lines).toEqual(['lifecycle running', 'input.answered'])
    expect(JSON.parse(reader.all[1]!.data)).toEqual({ interrupt_ids: [id] })
  })

  it('says why a run failed, with what its refusal adds', async () => {
    const house = new ThreadHouse()
    const reader = await readThread(house.client, 'x')
    await house.startRun('x')
    await settled()
    const error = { error: 'UnknownInterruptError', message: 'no such', reason: 'not_pending' }
    house.host.end(house.host.only, { status: 'error', error })
    await settled()
    expect(JSON.parse(reader.all.at(-1)!.data)).toEqual({ event: 'failed', graph_name: 'agent',
      error: 'no such', reason: 'not_pending' })
  })

  it('ends a run that is cancelled or rolled back as interrupted', async () => {
    const house = new ThreadHouse()
    const reader = await readThread(house.client, 'x')
    for (const action of ['interrupt', 'rollback'] as const) {
      const run = house.run()
      await house.client.startRun('t', 'x', run)
      await settled()
      await house.host.step(house.host.only, action)
      await house.client.cancelRun('t', 'x', run.runId, { action })
    }
    await settled()
    expect(reader.lines).toEqual(['lifecycle running', 'checkpoints', 'values',
      'lifecycle interrupted', 'lifecycle running', 'checkpoints', 'values',
      'lifecycle interrupted'])
    const reasons = reader.all.map(({ data }) => (JSON.parse(data) as { reason?: string }).reason)
    expect(reasons.filter((reason) => reason !== undefined)).toEqual(['cancelled', 'rolled_back'])
  })

  it('says that a run is running again after a crash, with another id', async () => {
    const house = new ThreadHouse()
    await house.startRun('x')
    await settled()
    await house.host.step(house.host.only, 'one')
    house.restart()
    const reader = await readThread(house.client, 'x')
    await settled()
    await house.host.step(house.host.only, 'two')
    house.host.end(house.host.only)
    await settled()
    expect(reader.lines).toEqual(['lifecycle running', 'checkpoints', 'values', 'lifecycle running',
      'checkpoints', 'values', 'lifecycle completed'])
    expect(new Set(reader.ids).size).toBe(7)
  })

  it('shows long data that a worker sends in parts, to followers of the run as well', async () => {
    const house = new ThreadHouse()
    const reader = await readThread(house.client, 'x')
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    await settled()
    const seen: string[] = []
    await house.client.followRun('t', 'x', run.runId, { after: null, modes: null }, {
      events: (batch) => void seen.push(...batch.map(({ name, json }) => name + json)),
      ended: () => {},
    })
    const { listener } = house.host.only
    const late = (name: string) => ({ name, json: '', valuesOf: '', durable: false })
    void listener.steps({ steps: [],
      events: [late('custom'), late('thread:custom|'), late('custom')] })
    void listener.steps({ steps: [], events: [], texts: ['1', '{"payload":2}', '3'] })
    await settled()
    expect(reader.all.at(-1)).toMatchObject({ method: 'custom', data: '{"payload":2}',
      runId: run.runId, namespace: [] })
    expect(seen.slice(1)).toEqual(['custom1', 'custom3'])
  })

  it('is gone when it is deleted', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    const reader = await readThread(house.client, 'x')
    await settled()
    await house.client.delete('t', 'x')
    await settled()
    expect(reader.ends).toEqual(['gone'])
  })

  it('fails a run that is under way when it is deleted', async () => {
    const house = new ThreadHouse()
    const reader = await readThread(house.client, 'x')
    await house.startRun('x')
    await settled()
    await house.client.delete('t', 'x')
    await settled()
    expect(reader.lines.at(-1)).toBe('lifecycle failed')
    expect(reader.ends).toEqual(['gone'])
  })

  it('begins anew for who waits for a deleted one', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    await house.client.delete('t', 'x')
    const reader = await readThread(house.client, 'x')
    await house.runOnce('x', 'two')
    expect(reader.lines.at(-1)).toBe('lifecycle completed')
    const later = await readThread(house.client, 'x')
    await settled()
    expect(later.ids).toEqual(reader.ids)
  })
})

describe('who comes later', () => {
  it('gets the last finished run and what came since, as one who was there', async () => {
    const house = new ThreadHouse()
    const first = await readThread(house.client, 'x')
    for (const text of ['one', 'two', 'three']) await house.runOnce('x', text)
    await house.startRun('x')
    await house.startRun('x')
    await settled()
    await house.host.step(house.host.only, 'four')
    await settled()
    house.restart()
    const second = await readThread(house.client, 'x')
    await settled()
    const expected = first.all.slice(-7)
    expect(second.all.slice(0, 7)).toEqual(expected)
    expect(second.lines.at(7)).toBe('lifecycle running')
    const behind = await readThread(house.client, 'x', expected[2]!.seq)
    await settled()
    expect(behind.all).toEqual(second.all.slice(3))
  })

  it('is spared the ends of runs that were over when the run under way was admitted', async () => {
    const house = new ThreadHouse()
    const follow = async () => {
      const reader = new ThreadReader()
      await house.client.followThread('t', 'x', { afterSeq: null, ifMissing: 'wait',
        skipsOldEnds: true }, reader)
      await settled()
      return reader.lines.filter((line) => line.startsWith('lifecycle'))
    }
    await house.runOnce('x', 'one')
    await house.startRun('x', { afterMs: 60_000 })
    expect(await follow()).toEqual(['lifecycle running', 'lifecycle completed'])
    await house.startRun('x')
    await house.startRun('x')
    await settled()
    expect(await follow()).toEqual(['lifecycle running', 'lifecycle running'])
    house.restart()
    expect((await follow()).slice(0, 2)).toEqual(['lifecycle running', 'lifecycle running'])
    house.host.end(house.host.only, { status: 'success' })
    await settled()
    // The third was admitted before the second ended: its client got that end as well.
    expect(await follow()).toContain('lifecycle completed')
  })

  it('gets the tokens of a run, however large the inputs of its tasks are', async () => {
    const house = new ThreadHouse()
    const first = await readThread(house.client, 'x')
    await house.startRun('x')
    await settled()
    const made = (method: string, json: string) => ({ name: `thread:${method}|`, json, valuesOf: '',
      durable: false })
    const { listener } = house.host.only
    void listener.steps({ steps: [],
      events: [made('messages', '{}'), made('tasks', '{"id":"a"}')] })
    const input = JSON.stringify('x'.repeat(100_000))
    for (let n = 0; n < 50; n++) void listener.steps({ steps: [], events: [made('tasks', input)] })
    await settled()
    expect(first.lines.filter((line) => line === 'tasks')).toHaveLength(51)
    const second = await readThread(house.client, 'x')
    await settled()
    expect(second.lines).toEqual(['lifecycle running', 'messages', 'tasks'])
  })

  it('costs nothing where nobody follows', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    const reader = await readThread(house.client, 'x')
    await settled()
    reader.stop()
    await house.runOnce('x', 'two')
    await house.startRun('x')
    await settled()
    const { events } = house.host.only.execution.request as { events?: unknown }
    expect(events).toBeUndefined()
    expect(house.host.only.execution.request).not.toHaveProperty('threadEvents')
  })
})
