/**
 * The thread that takes operations in: it reads bodies and writes spans. Started by
 * platform-thread.ts.
 */

import { workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import { systemEnv } from '../../../cluster/index.ts'
import { ingestHandlers } from './ingest-handlers.ts'
import type { SpanStoreModule } from '../spans/span-port.ts'
import { callsTo, serveCalls } from '../calls/calls.ts'
import type { IngestNeeds } from './platform-calls.ts'
import type { ThreadStart } from './thread-start.ts'

const { store: { module, options }, calls, needs } = workerData as ThreadStart

const { openSpanStore } = await import(module) as SpanStoreModule
const handlers = ingestHandlers({
  store: await openSpanStore(options, 'write'),
  needs: callsTo<IngestNeeds>(needs as MessagePort),
  env: systemEnv({ name: 'ingest' }),
})
serveCalls(calls, {
  ...handlers,
  close: async () => {
    await handlers.close(null)
    process.nextTick(() => {
      needs?.close()
      calls.close()
    })
  },
})
