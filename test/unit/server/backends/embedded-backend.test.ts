/** A server whose data directory can no longer be written. */

import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'

import { expect, it, onTestFinished } from 'vitest'

import { openEmbeddedBackend } from '../../../../src/server/backends/embedded-backend.ts'
import { embeddedPlace } from '../../../contract/embedded-place.ts'
import { virtualEnv } from '../../../support/env.ts'

it('The server must end when the writer thread has died.', async () => {
  const place = embeddedPlace()
  onTestFinished(() => place.remove())
  const started = once(process, 'worker') as Promise<[Worker]>
  const reasons: string[] = []
  const backend = await openEmbeddedBackend(place.directory, virtualEnv(),
    (reason) => void reasons.push(reason), { diskBytes: 1024 ** 3, tenantBytes: Infinity,
    indexesWords: true })
  const [writer] = await started
  expect(reasons).toEqual([])
  await writer.terminate()
  expect(reasons).toEqual(['The thread that writes the data directory has died.'])
  await backend.close(AbortSignal.abort())
  expect(reasons).toHaveLength(1)
})
