/**
 * The indexes of a backend with the stateless runs that members keep back: what asks for hidden
 * threads, or for runs, has these written first, and quotas count them.
 */

import { atLatest } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { TenantUse } from '../../limits/index.ts'
import type { IndexQuestion, OwnIndex, RunTable, ScatteredIndex,
  ThreadFilter } from '../../search/index.ts'
import type { HeldRuns } from '../../thread/index.ts'

/** Time for which a search of runs waits for owners. Later, what they keep back is written. */
const patienceMs = 2_000

/** The index of a member, which asks for what this member keeps back. */
export function ownWithHeld(index: OwnIndex, held: HeldRuns): OwnIndex {
  return { answer: async (question) => {
    await writtenFor(question, held)
    const answer = await index.answer(question)
    if (question.kind !== 'tenant_use' || !answer.use) return answer
    return { ...answer, use: useWithHeld(answer.use, question.query.tenant, held) }
  } }
}

/** The index of a store that only this member uses. */
export function loneWithHeld(index: ScatteredIndex, held: HeldRuns): ScatteredIndex {
  const { threads, assistants, crons, items } = index
  return {
    assistants,
    crons,
    items,
    threads: {
      search: async (query, cancelled) => {
        await hiddenWritten(query, held)
        return threads.search(query, cancelled)
      },
      count: async (filter, cancelled) => {
        await hiddenWritten(filter, held)
        return threads.count(filter, cancelled)
      },
    },
    use: async (tenant) => useWithHeld(await index.use(tenant), tenant, held),
  }
}

/** The runs of all members: each is asked for its hidden threads before runs are searched. */
export function runsWithHeld(runs: RunTable, { threads }: Pick<ScatteredIndex, 'threads'>,
  env: Pick<Env, 'after'>): RunTable {
  return searchedAfter(runs, async (tenant) => {
    const asked = threads.count({ tenant, hidden: true }).catch(() => 0)
    await atLatest(env, patienceMs, asked)
  })
}

/** The runs, of which a search waits for `asked` first. */
export function searchedAfter(runs: RunTable,
  asked: (tenant: string, cancelled?: AbortSignal) => Promise<unknown>): RunTable {
  return {
    get: (...run) => runs.get(...run),
    list: (query) => runs.list(query),
    search: async (query, cancelled) => {
      await asked(query.tenant, cancelled)
      return await runs.search(query, cancelled)
    },
  }
}

async function writtenFor(question: IndexQuestion, held: HeldRuns): Promise<void> {
  switch (question.kind) {
    case 'thread_search':
    case 'thread_find':
    case 'thread_seen':
    case 'thread_count':
    case 'thread_find_count':
    case 'thread_seen_count':
      return hiddenWritten(question.query, held)
  }
}

async function hiddenWritten({ tenant, hidden }: ThreadFilter, held: HeldRuns): Promise<void> {
  if (hidden === true) await held.written(tenant)
}

function useWithHeld(use: TenantUse, tenant: string, held: HeldRuns): TenantUse {
  return { ...use, runs: use.runs + held.countOf(tenant) }
}
