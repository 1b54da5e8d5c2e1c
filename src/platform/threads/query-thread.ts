/** The thread that reads spans and counts them. Started by platform-thread.ts. */

import { workerData } from 'node:worker_threads'

import { systemEnv } from '../../../cluster/index.ts'
import { queryHandlers } from './query-handlers.ts'
import type { SpanStoreModule } from '../spans/span-port.ts'
import { callsTo, Moved, serveCalls } from '../calls/calls.ts'
import type { Handlers } from '../calls/calls.ts'
import type { QueryThreadNeeds } from './platform-calls.ts'
import type { ThreadStart } from './thread-start.ts'

const { store: { module, options }, calls, needs } = workerData as ThreadStart

const { openSpanStore } = await import(module) as SpanStoreModule
const handlers = queryHandlers({
  store: await openSpanStore(options, 'read'),
  env: systemEnv({ name: 'query' }),
  ...needs && { needs: callsTo<QueryThreadNeeds>(needs) },
})
/** Handlers whose answers are moved, because they are long and used nowhere else. */
const moving = Object.fromEntries(
  Object.entries<Handlers[string]>({ ...handlers }).map((
    [name, handle],
  ) => [name, async (question: never, signal: AbortSignal) => {
    const answer = await handle(question, signal)
    return answer instanceof Uint8Array ? new Moved(answer) : answer
  }]),
)
serveCalls(calls, {
  ...moving,
  close: async () => {
    await handlers.close(null)
    process.nextTick(() => {
      needs?.close()
      calls.close()
    })
  },
})
