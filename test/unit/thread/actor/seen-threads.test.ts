/** Commands of callers who see only some threads: that is looked at in the thread's turn. */

import { describe, expect, it } from 'vitest'

import type { MetadataFilter } from '../../../../src/search/index.ts'
import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'

const ofAnn: MetadataFilter = { kind: 'equals', key: 'owner', value: 'ann' }

/** A house with Ann's thread. */
async function withThread(): Promise<ThreadHouse> {
  const house = new ThreadHouse()
  await house.client.create('t', { threadId: 'x', metadata: { owner: 'ann' }, ifExists: 'raise',
    supersteps: [] })
  return house
}

describe('a caller who sees a thread', () => {
  it('changes it, runs on it and deletes it', async () => {
    const { client } = await withThread()
    expect((await client.patch('t', 'x', { a: 1 }, undefined, ofAnn)).row.metadataJson)
      .toContain('"a":1')
    expect((await client.startRun('t', 'x', aRun('r', { allowed: ofAnn }))).runId).toBe('r')
    await client.delete('t', 'x', ofAnn)
    await expect(client.get('t', 'x')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('does nothing once it is of somebody else, also with what was sent before it is known',
    async () => {
      const house = await withThread()
      const { client } = house
      await client.startRun('t', 'x', aRun('of ann', { allowed: ofAnn }))
      const update = { kind: 'update', values: { a: 1 }, asNode: null } as never
      const config = { id: 'c', taskId: 'of ann', url: 'https://a.example' } as never
      // All are under way together: the first one takes the thread away from Ann.
      const given = client.patch('t', 'x', { owner: 'ben' })
      const late = await Promise.allSettled([
        client.patch('t', 'x', { a: 1 }, undefined, ofAnn),
        client.startRun('t', 'x', aRun('r', { allowed: ofAnn })),
        client.updateState('t', 'x', { update, checkpoint: null }, ofAnn),
        client.patchState('t', 'x', { a: 1 }, ofAnn),
        client.copy('t', 'x', { allowed: ofAnn }),
        client.cancelRun('t', 'x', 'of ann', { action: 'interrupt' }, ofAnn),
        client.cancelRun('t', 'x', 'of ann', { action: 'rollback' }, ofAnn),
        client.deleteRun('t', 'x', 'of ann', ofAnn),
        client.changePush('t', 'x', { kind: 'set', taskId: 'of ann', runId: 'of ann', config },
          ofAnn),
        client.prune('t', 'x', 'keep_latest', ofAnn),
        client.prune('t', 'x', 'delete', ofAnn),
        client.delete('t', 'x', ofAnn),
      ])
      await given
      await settled()
      for (const outcome of late) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'not_found' } })
      }
      const { row } = await client.get('t', 'x')
      expect(JSON.parse(row.metadataJson)).toMatchObject({ owner: 'ben' })
      expect(row.push?.configs ?? []).toEqual([])
      expect((await client.getRun('t', 'x', 'of ann')).status).toBe('running')
      expect(house.host.executions).toHaveLength(1)
    })

  it('makes a thread by a run, whatever it sees of others', async () => {
    const { client } = new ThreadHouse()
    const run = aRun('r', { allowed: ofAnn, ifMissing: 'create' })
    expect((await client.startRun('t', 'new', run)).threadId).toBe('new')
  })
})

describe('a copy', () => {
  it('has the given metadata from its first row, and no removed members', async () => {
    const { client } = await withThread()
    const metadata = { team: 'b', nested: { owner: 'ben' } }
    const { row } = await client.copy('t', 'x', { allowed: ofAnn, metadata })
    expect(JSON.parse(row.metadataJson)).toEqual(metadata)
    const stored = await client.get('t', row.threadId)
    expect(JSON.parse(stored.row.metadataJson)).toEqual(metadata)
    expect(JSON.parse((await client.get('t', 'x')).row.metadataJson)).toEqual({ owner: 'ann' })
  })

  it('has the metadata of its thread by default', async () => {
    const { client } = await withThread()
    const { row } = await client.copy('t', 'x')
    expect(JSON.parse(row.metadataJson)).toEqual({ owner: 'ann' })
  })
})
