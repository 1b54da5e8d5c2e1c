/** Pages of large threads and assistants: what has more bytes than it may have is refused. */

import { describe, expect, it } from 'vitest'

import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { anAssistant, aThread } from '../../../../contract/rows.ts'
import { useStore } from '../../../../contract/store-place.ts'

const store = useStore(embeddedPlace)

/** Five of these fit, six do not. */
const long = JSON.stringify({ long: 'x'.repeat(2_400_000) })
const six = Array.from({ length: 6 }, (_, n) => n)
const page = { tenant: 'local', sortBy: 'created_at', sortOrder: 'asc', offset: 0,
  bytes: 13_400_000 } as const
const refused = { code: 'too_large', httpStatus: 413 }

describe('a search that is too large is refused, even after one that was not:', () => {
  it.each(['metadataJson', 'configJson'] as const)('threads by their %s', async (text) => {
    const { log, threads } = store
    for (const createdAtMs of six) {
      await log.append([], [{ table: 'thread', row: aThread({ createdAtMs, [text]: long }) }])
    }
    expect(await threads.search({ ...page, limit: 5 })).toMatchObject({ rows: { length: 5 } })
    await expect(threads.search({ ...page, limit: 6 })).rejects.toMatchObject(refused)
    expect(await threads.search({ ...page, limit: 5 })).toMatchObject({ rows: { length: 5 } })
  })

  it('assistants', async () => {
    const { log, assistants } = store
    for (const createdAtMs of six) {
      const row = anAssistant({ createdAtMs, configJson: long })
      await log.append([], [{ table: 'assistant', row }])
    }
    expect(await assistants.search({ ...page, limit: 5 })).toMatchObject({ rows: { length: 5 } })
    await expect(assistants.search({ ...page, limit: 6 })).rejects.toMatchObject(refused)
    expect(await assistants.search({ ...page, limit: 5 })).toMatchObject({ rows: { length: 5 } })
  })
})
