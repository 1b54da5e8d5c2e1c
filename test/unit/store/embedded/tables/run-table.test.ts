/** Lists of runs with large inputs: what has more bytes than it may have is refused. */

import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'

import type { RunQuery } from '../../../../../src/search/index.ts'
import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { aRun } from '../../../../contract/rows.ts'
import { useStore } from '../../../../contract/store-place.ts'

const store = useStore(embeddedPlace)
const threadId = randomUUID()
const megabyte = 1024 * 1024
const list = (query: Partial<RunQuery> = {}) =>
  store.runs.list({ tenant: 'local', threadId, limit: 10, offset: 0, bytes: 27 * megabyte,
    ...query })

/** Five of these fit, six do not. Each is longer than what is read of a page at a time. */
const kwargsJson = `"${'x'.repeat(5 * megabyte)}"`

beforeAll(async () => {
  for (let n = 0; n < 6; n++) {
    const row = aRun({ threadId, kwargsJson, status: n === 0 ? 'error' : 'success' })
    await store.log.append([], [{ table: 'run', row }])
  }
})

it('A page that is too large is refused, even after one that was not.', async () => {
  expect(await list({ limit: 5 })).toHaveLength(5)
  await expect(list()).rejects.toMatchObject({ code: 'too_large', httpStatus: 413 })
  expect(await list({ limit: 5, offset: 1 })).toHaveLength(5)
})

it('Fields that are not selected and runs that are not on the page take no room.', async () => {
  expect((await list({ texts: ['metadataJson'] })).map((row) => row.kwargsJson.length))
    .toEqual([0, 0, 0, 0, 0, 0])
  expect(await list({ status: 'error' })).toHaveLength(1)
  expect(await list({ status: 'success', offset: 4 })).toHaveLength(1)
})

it('A row that was removed while a long page is read is left out.', async () => {
  const reading = list({ limit: 3 })
  const [, second] = await list({ limit: 3 })
  await store.log.append([], [{ table: 'run_removed', tenant: 'local', threadId,
    runId: second!.runId }])
  expect((await reading).length).toBeGreaterThanOrEqual(2)
  expect(await list({ limit: 5 })).toHaveLength(5)
})
