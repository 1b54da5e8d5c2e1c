/** Changes of one piece of feedback that come at the same time. */

import { expect, it } from 'vitest'

import { feedbackChanges } from '../../../../src/platform/ingest/feedback-changes.ts'
import { feedbackOf } from '../../../../src/platform/records/feedback/feedback-row.ts'
import type { Feedback, SpanStore } from '../../../../src/platform/index.ts'

const tenant = 'acme'
const id = '11111111-1111-4111-8111-111111111111'
const run = '22222222-2222-4222-8222-222222222222'
const nowUs = Date.UTC(2026, 0, 1) * 1_000

/** A store of one row whose reads and writes take a turn of the event loop. */
function storeOf(row: Feedback | undefined) {
  const kept = { row }
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const store = {
    locate: () => Promise.resolve([]),
    getFeedback: async () => {
      await turn()
      return kept.row
    },
    replaceFeedback: async (before: Feedback, { row: after }: { readonly row: Feedback }) => {
      await turn()
      if (kept.row === undefined || kept.row.modifiedUs !== before.modifiedUs) return 'changed'
      kept.row = after
      return 'replaced'
    },
    deleteFeedback: async () => {
      await turn()
      const isThere = kept.row !== undefined
      kept.row = undefined
      return isThere
    },
  } as unknown as SpanStore
  return { kept, store, changes: feedbackChanges(store) }
}

const given = feedbackOf(tenant, { id, run_id: run, key: 'good', score: 1 }, nowUs)

it('two changes at the same time keep what each of them sets', async () => {
  const { kept, changes } = storeOf(given)
  await Promise.all([
    changes.changeFeedback({ tenant, id, change: { score: 0 }, nowUs }),
    changes.changeFeedback({ tenant, id, change: { comment: 'why' }, nowUs }),
  ])
  expect(kept.row).toMatchObject({ score: 0 })
  expect(JSON.parse(kept.row!.bodyJson)).toMatchObject({ comment: 'why' })
})

it('keeps what another member sets between the read and the write of a change', async () => {
  const { store, kept } = storeOf(given)
  const members = [feedbackChanges(store), feedbackChanges(store)]
  await Promise.all(
    [{ score: 0 }, { comment: 'why' }].map((change, at) =>
      members[at]!.changeFeedback({ tenant, id, change, nowUs })
    ),
  )
  expect(kept.row).toMatchObject({ score: 0 })
  expect(JSON.parse(kept.row!.bodyJson)).toMatchObject({ comment: 'why' })
})

it('a change does not restore feedback that is deleted at the same time', async () => {
  const { kept, changes } = storeOf(given)
  const [deleted, changed] = await Promise.all([
    changes.deleteFeedback({ tenant, id }),
    changes.changeFeedback({ tenant, id, change: { score: 0 }, nowUs }),
  ])
  expect([deleted, changed, kept.row]).toEqual([true, undefined, undefined])
})

it('a change is later than the row before it, also if the clock went back', async () => {
  const { kept, changes } = storeOf(given)
  await changes.changeFeedback({ tenant, id, change: { score: 0 }, nowUs: nowUs - 1e9 })
  expect(kept.row!.modifiedUs).toBeGreaterThan(given.modifiedUs)
})
