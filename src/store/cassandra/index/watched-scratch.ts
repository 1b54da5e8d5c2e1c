/**
 * A scratch store that reports its failures. A row that is in Cassandra but not here would never be
 * found by searches, so the member must not continue.
 */

import { HeddleError } from '../../../errors.ts'
import type { ScratchStore } from '../../embedded/index.ts'

/** Wraps a store. Calls `lost` with a message if the disk fails before the store is closed. */
export function watchedScratch(store: ScratchStore, lost: (reason: string) => void): ScratchStore {
  let closing = false
  type Write<Values extends readonly unknown[]> = (...values: Values) => Promise<void>
  const watched =
    <Values extends readonly unknown[]>(write: Write<Values>): Write<Values> => async (
      ...values
    ) => {
      try {
        await write(...values)
      } catch (error) {
        const { code, message } = HeddleError.from(error)
        // If the row itself is at fault, it would be for the next owner too.
        if (code === 'unavailable' && !closing) lost(message)
        throw error
      }
    }
  return {
    ...store,
    log: { ...store.log, append: watched(store.log.append), purge: watched(store.log.purge) },
    load: watched(store.load),
    cover: watched(store.cover),
    uncover: watched(store.uncover),
    unload: watched(store.unload),
    close: async () => {
      closing = true
      await store.close()
    },
  }
}
