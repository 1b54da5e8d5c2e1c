/** Runs by id, in the order of their creation on a thread, and in that of a tenant. */

import { LRUCache, readAhead } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../checkpoint/index.ts'
import { assert } from '../../../errors.ts'
import { isMeant } from '../../../search/index.ts'
import type { FoundRuns, RunPlace, RunQuery, RunSearchQuery,
  RunTable as RunTablePort } from '../../../search/index.ts'
import { PageBytes } from '../../page-bytes.ts'
import { withTexts } from '../../run-texts.ts'
import type { Connection } from '../driver/connection.ts'
import { FormerRuns } from './former-runs.ts'
import { isNewer, mergePlaces } from './merged-places.ts'
import { placesAtOnce } from './run-rows.ts'
import type { FoundRun, PlacedRun, PlaceQuery, RunKey, RunRows, RunWrite } from './run-rows.ts'
import type { SeenThreads } from './seen-threads.ts'
import type { StoredBodies } from './stored-body.ts'
import { ThreadRuns } from './thread-runs.ts'

/** Runs whose places are known to be written. */
const placedKept = 20_000
/** Rows that are looked at for a status at the same time. */
const atOnce = 64
/** Runs of a list that are read whole at the same time. Their chunks may be large. */
const wholeAtOnce = 4
/** Places that a search reads at a time, at least and at most. */
const [searchedMin, searchedMax] = [50, 500]
/** Runs that a search looks at. The next one goes on behind them. */
const lookedAtMax = 5_000

/** Use of the tables of earlier versions, in a keyspace that has them. */
export interface FormerTables {
  /** False while members of an earlier version may come back, which know no other tables. */
  readonly isFinished: boolean
}

/** A table of runs is made of these. */
export interface RunTableParts {
  readonly connection: Connection
  readonly bodies: StoredBodies
  readonly env: Pick<Env, 'nowMs'>
  /** Undefined if the keyspace has no runs in tables of earlier versions. */
  readonly former?: FormerTables | undefined
}

/**
 * Stores and lists runs. Runs made in one millisecond are sorted by id, which grows with time.
 *
 * A keyspace that an earlier version made has runs in its former tables. Only those are written
 * until its upgrade is finished, so that all members see the same, and only the new one after that.
 * Members may learn of the end at different times, so each reads both. Of two rows of a run, the
 * one that was written last is meant: timestamps follow the order of the owners.
 */
export class RunTable implements RunTablePort {
  readonly #bodies: StoredBodies
  /** All tables that may have runs. */
  readonly #tables: readonly RunRows[]
  readonly #written: RunRows
  readonly #placed = new LRUCache<string, true>({ max: placedKept })

  constructor({ connection, bodies, env, former }: RunTableParts) {
    this.#bodies = bodies
    const runs = new ThreadRuns(connection, bodies, env)
    const before = former && new FormerRuns(connection, bodies)
    this.#tables = before ? [runs, before] : [runs]
    this.#written = before && !former.isFinished ? before : runs
  }

  /**
   * Stores a row. Newer calls need a higher `rank`. Repeating it changes nothing. With `over`, a
   * lower timestamp, it is the first run of its thread, and takes the place of all that an earlier
   * thread of the same id left.
   */
  async put(
    { row, body = bytesOf(RunRow, row), rank, before, over }: { readonly row: RunRow;
      readonly body?: Uint8Array | undefined } & Pick<RunWrite, 'rank' | 'before' | 'over'>,
  ): Promise<void> {
    const text = textOf(row)
    const isPlaced = over === undefined && this.#placed.get(text) === true
    const areMany = this.#tables.length > 1
    if (over !== undefined && areMany) {
      await before
      await this.removeAll(row.tenant, row.threadId, over)
    }
    await this.#written.put({ row, body, rank, before, isPlaced, over: areMany ? undefined : over })
    // Places are written once; again if it is not known whether they were written.
    if (!isPlaced) this.#placed.set(text, true)
  }

  async remove(key: RunKey, rank: bigint): Promise<void> {
    await Promise.all(this.#tables.map(async (table) => {
      const found = await table.find(key)
      if (found) await table.remove(key, found, rank)
    }))
    this.#placed.delete(textOf(key))
  }

  /** Removes the runs of a thread, if `rank` is above their timestamps. */
  async removeAll(tenant: string, threadId: string, rank: bigint): Promise<void> {
    await Promise.all(
      this.#tables.map((table) =>
        table.removeAll(tenant, threadId, rank, (runId) => {
          // A run may be made again, as a stateless run has the id of its key.
          this.#placed.delete(textOf({ tenant, threadId, runId }))
        })
      ),
    )
  }

  /** Forgets places in the order, since other members may remove rows from now on. */
  forget(): void {
    this.#placed.clear()
  }

  async get(tenant: string, threadId: string, runId: string): Promise<RunRow | undefined> {
    return await this.#whole(await this.#find({ tenant, threadId, runId }))
  }

  async list(query: RunQuery): Promise<RunRow[]> {
    const { tenant, threadId, status, limit, offset, texts } = query
    const size = status === undefined ? Math.min(offset + limit, placesAtOnce) : atOnce
    const bytes = new PageBytes(query.bytes)
    const found: RunRow[] = []
    let passed = 0
    let matching = 0
    for await (const places of this.#places({ tenant, threadId, size })) {
      const from = Math.max(0, offset - passed)
      const wanted = status === undefined ? places.slice(from, from + limit - found.length) : places
      passed += places.length
      for await (const { run } of this.#read(tenant, wanted)) {
        if (run === undefined) continue
        if (status !== undefined && (run.status !== status || matching++ < offset)) continue
        found.push(withTexts(run, bytes, texts))
        if (found.length === limit) return found
      }
    }
    return found
  }

  /** `seen` knows the threads of the tenant that a caller may see, if the query asks for them. */
  async search(query: RunSearchQuery, cancelled?: AbortSignal,
    seen?: SeenThreads): Promise<FoundRuns> {
    assert(query.allowed === undefined || seen, 'whoever asks for what is seen can tell it')
    const { tenant, threadId, runId, limit, texts, after } = query
    const start = startOf(query)
    const pages = this.#places({ tenant, threadId, afterMs: query.createdAfterMs,
      untilMs: start.createdAtMs, size: Math.min(searchedMax, Math.max(searchedMin, limit)) })
    const bytes = new PageBytes(query.bytes)
    const rows: RunRow[] = []
    let next: RunPlace | undefined = after
    let lookedAt = 0
    for await (const page of pages) {
      const behind = page.filter((place) =>
        isNewer(start, place) && (runId === undefined || place.runId === runId)
      )
      const isSeen = await seen?.among(behind.map((place) => place.threadId), cancelled)
      for await (const { place, run } of this.#read(tenant, behind, isSeen)) {
        cancelled?.throwIfAborted()
        if (rows.length === limit) return { rows, next }
        if (next && lookedAt++ >= lookedAtMax && place.createdAtMs < next.createdAtMs) {
          // Names no run: it may be one that the caller must not see.
          return { rows, next: { createdAtMs: next.createdAtMs, runId: '' } }
        }
        next = { createdAtMs: place.createdAtMs, runId: place.runId }
        if (run && isMeant(query, run)) rows.push(withTexts(run, bytes, texts))
      }
    }
    return { rows, next: undefined }
  }

  #places(query: PlaceQuery): ReturnType<RunRows['places']> {
    return mergePlaces(this.#tables.map((table) => table.places(query)))
  }

  /** The run at each place; undefined for one that was never written, is removed or is not seen. */
  #read(tenant: string, places: readonly PlacedRun[], isSeen?: (threadId: string) => boolean) {
    const rows = readAhead(atOnce, places, async (place) => {
      const { threadId, runId, apart } = place
      if (isSeen?.(threadId) === false) return { place, found: undefined }
      return { place, found: await this.#find({ tenant, threadId, runId }, apart) }
    })
    return readAhead(wholeAtOnce, rows,
      async ({ place, found }) => ({ place, run: await this.#whole(found) }))
  }

  /** The newest row of the run. */
  async #find(key: RunKey, apart?: boolean): Promise<FoundRun | undefined> {
    const all = await Promise.all(this.#tables.map((table) => table.find(key, apart)))
    return all.filter((found) => found !== undefined)
      .reduce<FoundRun | undefined>((best, each) => (best && best.rank >= each.rank ? best : each),
        undefined)
  }

  async #whole(found: FoundRun | undefined): Promise<RunRow | undefined> {
    const body = found && await this.#bodies.read(found.address, found.row, found.again)
    return body && RunRow.decode(body)
  }
}

/** The place before which runs are sought. An empty id is before all of that time. */
function startOf(
  { after, createdBeforeMs = Number.MAX_SAFE_INTEGER }: RunSearchQuery,
): RunPlace {
  return after && after.createdAtMs < createdBeforeMs
    ? after
    : { createdAtMs: createdBeforeMs, runId: '' }
}

function textOf({ tenant, threadId, runId }: RunKey): string {
  return `${tenant}\n${threadId}\n${runId}`
}
