/** The answer to a question in SQL, as JSON in UTF-8. */

import { FairSemaphore } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { firstArrivals } from '../scan.ts'
import type { SpanStore } from '../../spans/span-port.ts'
import type { SpanReads, SqlCall } from '../question.ts'

/** Turns of questions, as each needs a process of its own. */
const turns = { inAll: 2, each: 1, waiting: 64, waitingEach: 8,
  full: 'Too many questions in SQL are waiting: ask again in a moment.' }

/** The handler over a store. */
export function sqlReads(store: SpanStore,
  env: Pick<Env, 'nowMs' | 'monotonicMs'>): Pick<SpanReads, 'sql'> {
  const semaphore = new FairSemaphore(turns)
  return {
    sql: async ({ tenant, projects, query }: SqlCall, signal?: AbortSignal) => {
      if (store.querySql === undefined) {
        throw new HeddleError('unsupported', 'SQL is answered by a server that keeps its traces ' +
          'in its data directory. This one keeps them in Cassandra: use filters, or statistics.')
      }
      const leave = await semaphore.enter(tenant, signal)
      try {
        const beganMs = env.monotonicMs()
        const from = firstArrivals({ projects }, env.nowMs())
        const answer = await store.querySql({ tenant, query,
          projects: projects.map(({ id }) => ({ id, fromUs: from.get(id) ?? 0 })) }, signal)
        return Buffer.from(
          JSON.stringify({ ...answer, row_count: answer.rows.length,
            is_truncated: answer.truncation_reason !== null,
            execution_time_ms: Math.round(env.monotonicMs() - beganMs), warnings: [] }),
        )
      } finally {
        leave()
      }
    },
  }
}
