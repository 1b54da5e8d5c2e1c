/** What callers get if the connection to the owner breaks and the outcome is not known. */

import { describe, expect, it } from 'vitest'
import { assistantClient } from '../../../../src/assistants/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { ReadQuota } from '../../../../src/limits/read-quota.ts'
import type { ThreadSearch } from '../../../../src/search/index.ts'
import { createThreadClient } from '../../../../src/thread/index.ts'
import { ThreadHouse } from '../../../support/thread-house.ts'

const broken = () =>
  Promise.reject(new HeddleError('internal', 'The connection broke.', {
    ambiguous: true,
  }))
const router = { ask: broken, follow: broken }
const { env } = new ThreadHouse()
const threads = createThreadClient({ router, threads: {} as ThreadSearch, newThreadId: () => 'copy',
  env, reads: new ReadQuota(env) })
const assistants = assistantClient(router)
const name = { tenant: 't', assistantId: 'a' }
const head = { checkpointId: null, checkpointNs: '', subgraphs: false }
const deaf = { events: () => {}, ended: () => {} }
const page = { tenant: 't', threadId: 'x', limit: 10, offset: 0 }

describe('if the connection to the owner breaks', () => {
  it.each([
    ['a thread', () => threads.get('t', 'x')],
    ['a state', () => threads.state('t', 'x', head)],
    ['a run', () => threads.getRun('t', 'x', 'r')],
    ['the runs', () => threads.listRuns(page)],
    ['events', () => threads.followRun('t', 'x', 'r', { after: null, modes: null }, deaf)],
    ['an assistant', () => assistants.get(name)],
    ['versions', () => assistants.versions(name, { metadata: {}, limit: 10, offset: 0 })],
  ])('a read of %s is answered as retryable', async (_, read) => {
    await expect(read()).rejects.toMatchObject({ code: 'unavailable', retry: 'same' })
  })

  it('a change is answered as ambiguous', async () => {
    await expect(threads.patch('t', 'x', {})).rejects.toMatchObject({ outcome: 'maybe_done' })
    await expect(assistants.setLatest(name, 1)).rejects.toMatchObject({ outcome: 'maybe_done' })
  })
})
