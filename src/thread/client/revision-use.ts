/** Use of a deployment's revisions: unfinished runs, and threads that wait. */

import type { ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import { nodesAround } from '../../graph/index.ts'
import { textAt, valueIn } from '../../json/index.ts'
import type { ThreadPlace, ThreadQuery, ThreadSearch } from '../../search/index.ts'

/** Threads that wait at a node of a graph of a revision, or inside it. */
export interface WaitingThreads {
  readonly revision: string
  readonly graphId: string
  readonly node: string
  readonly threads: number
}

/** Runs and threads that use the revisions of a namespace now. */
export interface RevisionUse {
  /** Unfinished runs that have started with a revision, or whose callers named it. */
  readonly running: ReadonlyMap<string, number>
  /** Threads whose interrupts or nodes a revision has, by revision. */
  readonly waiting: ReadonlyMap<string, number>
  /**
   * The same threads by node. One that waits at two nodes counts at both, and one that waits inside
   * a node counts at that as well.
   */
  readonly waitingAt: readonly WaitingThreads[]
}

/** Rows that are read together at first. */
const pageRows = 500
const pageBytes = 16 * 1024 * 1024
/** Threads that are looked through of each kind. */
const threadsMax = 20_000
/** Threads that are looked through whose last run failed. Few of them wait. */
const failedMax = 100_000

/**
 * Counts in the index of all members. Undefined if more threads are busy or wait than are looked
 * through.
 */
export async function revisionUse(threads: ThreadSearch, namespace: string,
  cancelled?: AbortSignal): Promise<RevisionUse | undefined> {
  const busy = [{ status: 'busy' }, { status: 'busy', hidden: true }] as const
  const filters = [...busy, { status: 'interrupted' }, { status: 'error' }] as const
  const counts = await Promise.all(
    filters.map((filter) => threads.count({ tenant: namespace, ...filter }, cancelled)),
  )
  const max = ({ status }: Filter) => status === 'error' ? failedMax : threadsMax
  if (filters.some((filter, i) => counts[i]! > max(filter))) return undefined
  const use = new UseCount()
  // A run may start on a thread, or end there, while the others are read.
  for (const filter of [...filters, ...busy]) {
    const query = { tenant: namespace, ...filter }
    for await (const row of rowsOf(threads, query, cancelled)) use.add(row)
  }
  return use
}

type Filter = Pick<ThreadQuery, 'status' | 'hidden'>

async function* rowsOf(threads: ThreadSearch, filter: Filter & Pick<ThreadQuery, 'tenant'>,
  cancelled: AbortSignal | undefined): AsyncGenerator<ThreadRow> {
  let limit = pageRows
  for (let after: ThreadPlace | undefined;;) {
    const query: ThreadQuery = { ...filter, sortBy: 'thread_id', sortOrder: 'asc', limit, offset: 0,
      bytes: pageBytes, ...after && { after } }
    const page = await threads.search(query, cancelled).catch((error: unknown) => {
      if (limit === 1 || HeddleError.from(error).code !== 'too_large') throw error
    })
    if (!page) {
      limit = Math.max(1, Math.floor(limit / 8))
      continue
    }
    yield* page.rows
    const last = page.rows.at(-1)
    if (!last || page.rows.length < limit) return
    after = { value: last.threadId, id: last.threadId }
  }
}

class UseCount implements RevisionUse {
  readonly running = new Map<string, number>()
  readonly waiting = new Map<string, number>()
  readonly #nodes = new Map<string, WaitingThreads>()
  readonly #threads = new Set<string>()

  get waitingAt(): readonly WaitingThreads[] {
    return [...this.#nodes.values()]
  }

  /** Counts a thread once. A rollback of the run in progress returns to the wait before it. */
  add({ threadId, unfinished, waitingAt, restBefore, metadataJson }: ThreadRow): void {
    if (this.#threads.has(threadId)) return
    this.#threads.add(threadId)
    for (const { revision, wantedRevision = revision } of unfinished) {
      if (wantedRevision !== undefined) count(this.running, wantedRevision)
    }
    const places = [waitingAt, restBefore?.waitingAt].filter((place) => place !== undefined)
    const graphId = textAt(valueIn(metadataJson), 'graph_id') ?? ''
    for (const [revision, each] of Map.groupBy(places, (place) => place.revision)) {
      count(this.waiting, revision)
      const paths = each.flatMap(({ nodes }) => nodes)
      for (const node of new Set(paths.flatMap((path) => [...nodesAround(path), path]))) {
        this.#addNode({ revision, graphId, node, threads: 0 })
      }
    }
  }

  #addNode(place: WaitingThreads): void {
    const key = JSON.stringify([place.revision, place.graphId, place.node])
    const { threads } = this.#nodes.get(key) ?? place
    this.#nodes.set(key, { ...place, threads: threads + 1 })
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
