/**
 * Notes that the writer of own runs reads: runs that were deleted before their project existed, and
 * the time until which earlier programs have removed the oldest spans to free space. The store
 * itself notes that time now.
 */

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { cautiousClock } from '../../limits/index.ts'
import { namedId } from '../records/catalog/named-id.ts'
import { documentPage } from '../spans/document-port.ts'
import type { DocumentPlace, DocumentPort } from '../spans/document-port.ts'
import type { SpanStore } from '../spans/span-port.ts'
import type { Uuid } from '../spans/span.ts'

/** Owner of the note that earlier programs wrote on freed space. No tenant has its name. */
const everybody = '*'
const freedKey = 'freed'
/** Milliseconds for which a deleted run may be reported. */
const retainedMs = 2 * 86_400_000
/** Notes that are checked for age with new notes: at least, and for each new note. */
const [checkedMin, checkedPerNote] = [100, 2]
/** Tenants whose last checked note is in memory. */
const tenantsMax = 10_000
/** Maximum number of notes in memory. */
const notedMax = 10_000

/** Documents, and the notes that a store has of what it removed by itself. */
export type RemovedRunsStore = DocumentPort & Pick<SpanStore, 'freedUntilMs'>

/** The notes of one store. */
export class RemovedRuns {
  readonly #documents: RemovedRunsStore
  readonly #nowMs: () => number
  /** The latest notes of this process, whose workers may still send steps of these runs. */
  readonly #noted = new LRUCache<string, true>({ max: notedMax })
  /** The note of each tenant after which the check for age continues. */
  readonly #checked = new LRUCache<string, string>({ max: tenantsMax })

  constructor(documents: RemovedRunsStore, env: Pick<Env, 'nowMs' | 'monotonicMs'>) {
    this.#documents = documents
    this.#nowMs = cautiousClock(env)
  }

  /** Notes runs that were deleted. Durable when it resolves. */
  async add(tenant: string, runs: readonly Uuid[]): Promise<void> {
    for (const run of runs) this.#noted.set(`${tenant}\n${run}`, true)
    await this.#removeOld(tenant, Math.max(checkedMin, runs.length * checkedPerNote))
    await this.#documents.putDocuments(placeOf(tenant),
      runs.map((key) => ({ key, body: this.#now() })))
  }

  /** Checks so many notes. Continues after the last call, because ids may be in any order. */
  async #removeOld(tenant: string, count: number): Promise<void> {
    const place = placeOf(tenant)
    let after = this.#checked.get(tenant) ?? ''
    for (let left = count; left > 0;) {
      const limit = Math.min(left, documentPage.documents)
      const page = await this.#documents.listDocuments(place, { after, limit })
      const old = page.filter(({ body }) => timeIn(body) < this.#nowMs() - retainedMs)
      if (old.length > 0) await this.#documents.deleteDocuments(place, old.map(({ key }) => key))
      left = page.length < limit ? 0 : left - limit
      after = page.length < limit ? '' : page.at(-1)!.key
    }
    this.#checked.set(tenant, after)
  }

  /** True if this process has noted the run lately. */
  isNoted(tenant: string, run: Uuid): boolean {
    return this.#noted.size > 0 && this.#noted.has(`${tenant}\n${run}`)
  }

  /** Returns the ids of the deleted runs among these. */
  async among(tenant: string, runs: readonly Uuid[]): Promise<ReadonlySet<Uuid>> {
    if (runs.length === 0) return new Set()
    const found = await this.#documents.getDocuments(placeOf(tenant), runs)
    return new Set(found.map(({ key }) => key))
  }

  /** Deletes the notes of a tenant. */
  drop(tenant: string): Promise<void> {
    return this.#documents.dropDocuments(placeOf(tenant))
  }

  /**
   * Returns the time until which spans of a tenant may have been removed to free space; 0 if none
   * were.
   */
  async freedUntilMs(tenant: string): Promise<number> {
    const [found] = await this.#documents.getDocuments(placeOf(everybody), [freedKey])
    const freedMs = await this.#documents.freedUntilMs?.(tenant) ?? 0
    return Math.max(freedMs, found === undefined ? 0 : timeIn(found.body))
  }

  #now(): Uint8Array {
    return Buffer.from(String(this.#nowMs()))
  }
}

function placeOf(tenant: string): DocumentPlace {
  return { tenant, kind: 'own_run', owner: namedId('ownRun', 'removed') }
}

function timeIn(body: Uint8Array): number {
  return Number(Buffer.from(body).toString())
}
