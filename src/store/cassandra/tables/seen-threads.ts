/** Threads that a caller may see, as their owners know them: rows in Cassandra may lag. */

import type { MetadataFilter, RunFilter, ThreadSearch } from '../../../search/index.ts'

/** Threads that are asked for together. Their rows come whole, so they are few. */
const askedTogether = 50

/** Knows for one search of runs which threads are seen. */
export class SeenThreads {
  readonly #threads: Pick<ThreadSearch, 'search'>
  readonly #filter: { readonly tenant: string; readonly allowed: MetadataFilter }
  readonly #asked = new Set<string>()
  readonly #seen = new Set<string>()

  constructor(threads: Pick<ThreadSearch, 'search'>,
    filter: { readonly tenant: string; readonly allowed: MetadataFilter }) {
    this.#threads = threads
    this.#filter = filter
  }

  /** Looks for these threads. The result tells of each whether it is seen. */
  async among(threadIds: readonly string[],
    cancelled?: AbortSignal): Promise<(threadId: string) => boolean> {
    const unknown = [...new Set(threadIds)].filter((id) => !this.#asked.has(id))
    for (let from = 0; from < unknown.length; from += askedTogether) {
      await this.#ask(unknown.slice(from, from + askedTogether), cancelled)
    }
    return (threadId) => this.#seen.has(threadId)
  }

  /** Threads of stateless runs are hidden, and so apart. */
  async #ask(all: readonly string[], cancelled?: AbortSignal): Promise<void> {
    for (const hidden of [false, true]) {
      const ids = all.filter((id) => !this.#seen.has(id))
      if (ids.length === 0) break
      const { rows } = await this.#threads.search({ ...this.#filter, ids, hidden, offset: 0,
        limit: ids.length, sortBy: 'thread_id', sortOrder: 'asc' }, cancelled)
      for (const { threadId } of rows) this.#seen.add(threadId)
    }
    for (const id of all) this.#asked.add(id)
  }
}

/** For a search that asks for what a caller may see; undefined for others. */
export function seenThreads(threads: Pick<ThreadSearch, 'search'>, { tenant, allowed }: RunFilter):
  | SeenThreads
  | undefined {
  return allowed && new SeenThreads(threads, { tenant, allowed })
}
