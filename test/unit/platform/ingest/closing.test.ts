/** What the ingest thread finishes before its store is closed. */

import { expect, it } from 'vitest'

import { settled } from '../../../support/thread-house.ts'
import { ingestHouse } from './ingest-house.ts'

it('Closing waits for what is being removed', async () => {
  const steps: string[] = []
  const removal = Promise.withResolvers<void>()
  const { handlers } = ingestHouse((store) => ({ ...store,
    remove: () => removal.promise.then(() => void steps.push('removed')),
    close: async () => void steps.push('closed') })
  )
  const removed = handlers.remove({ tenant: 't', what: { kind: 'traces', traces: [] } })
  const closed = handlers.close(null)
  await settled()
  expect(steps).toEqual([])
  removal.resolve()
  await Promise.all([removed, closed])
  expect(steps).toEqual(['removed', 'closed'])
})
