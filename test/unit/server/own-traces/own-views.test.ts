/** What the platform sees of threads: texts of a bounded length, and nothing that is gone. */

import { expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { ownViews } from '../../../../src/server/own-traces/own-views.ts'
import type { ThreadClient } from '../../../../src/thread/index.ts'

const name = { tenant: 't', thread: 'x', run: 'r' }
const place = { tenant: 't', thread: 'x', checkpoint: 'c' }

const row = { status: 'success', kwargsJson: '{"input":1}', metadataJson: '', errorJson: '',
  finalCheckpointId: 'c' } as RunRow

function opened(changes: Partial<ThreadClient>) {
  const asked: unknown[] = []
  const threads: Pick<ThreadClient, 'getRun' | 'joinRun' | 'state' | 'history'> = {
    getRun: async () => row,
    joinRun: async (...all) => {
      asked.push(all)
      return '{"done":true}'
    },
    state: async () => '{"values":1}',
    async *history() {
      yield { states: ['1', '2'], isLast: false }
      yield { states: ['3'], isLast: true }
    },
    ...changes,
  }
  return { views: ownViews(threads), asked }
}

const failing = (code: 'not_found' | 'unavailable') => async () => {
  throw new HeddleError(code)
}

it('A run that has ended is shown with its result.', async () => {
  const { views, asked } = opened({})
  expect(await views.ownRun(name)).toEqual({ kwargs: '{"input":1}', metadata: null, error: null,
    outputs: '{"done":true}', finalCheckpoint: 'c' })
  expect(asked).toEqual([['t', 'x', 'r']])
  expect(await views.ownState(place)).toBe('{"values":1}')
  expect(await views.ownStatesBefore({ ...place, limit: 3 })).toEqual(['1', '2', '3'])
})

it('Nobody waits for a run that has not ended.', async () => {
  for (const status of ['pending', 'running']) {
    const { views, asked } = opened({ getRun: async () => ({ ...row, status }) })
    expect(await views.ownRun(name)).toMatchObject({ kwargs: '{"input":1}', outputs: null })
    expect(asked).toEqual([])
  }
})

it('A run that was cancelled has that as its error.', async () => {
  const { views } = opened({
    getRun: async () => ({ ...row, status: 'interrupted',
      cancelReason: 'cancelled: a client asked for it.' }),
  })
  expect(await views.ownRun(name)).toMatchObject({ outputs: null,
    error: '{"error":"Cancelled","message":"cancelled: a client asked for it."}' })
})

it('A run that failed has no result.', async () => {
  const { views, asked } = opened({
    getRun: async () => ({ ...row, status: 'error', errorJson: '{"error":"E"}' }),
  })
  expect(await views.ownRun(name)).toMatchObject({ outputs: null, error: '{"error":"E"}' })
  expect(asked).toEqual([])
})

it('Texts that are too long are left out.', async () => {
  const long = JSON.stringify('x'.repeat(8 * 1024 * 1024))
  const { views } = opened({ getRun: async () => ({ ...row, kwargsJson: long }),
    joinRun: async () => long, state: async () => long })
  expect(await views.ownRun(name)).toMatchObject({ kwargs: null, outputs: null })
  expect(await views.ownState(place)).toBeNull()
})

it('No more states are read than can be shown.', async () => {
  const long = 'x'.repeat(5 * 1024 * 1024)
  const { views } = opened({ async *history() {
    for (let n = 0; n < 2; n++) yield { states: [long], isLast: false }
    throw new HeddleError('internal')
  } })
  expect(await views.ownStatesBefore({ ...place, limit: 64 })).toHaveLength(2)
})

it('What is gone is missing; what cannot be read now is an error.', async () => {
  const gone = failing('not_found')
  const lost = opened({ getRun: gone, state: gone, async *history() {
    yield await gone()
  } }).views
  expect(await lost.ownRun(name)).toBeNull()
  expect(await lost.ownState(place)).toBeNull()
  expect(await lost.ownStatesBefore({ ...place, limit: 3 })).toEqual([])
  expect(await opened({ joinRun: gone }).views.ownRun(name)).toMatchObject({ outputs: null })
  const { views } = opened({ getRun: failing('unavailable') })
  await expect(views.ownRun(name)).rejects.toMatchObject({ code: 'unavailable' })
})
