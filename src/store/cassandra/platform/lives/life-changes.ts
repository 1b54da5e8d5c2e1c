/**
 * Changes of the life of the spans of projects. A change is a document until all rows have it, so
 * that another member, or this one after a restart, continues the change of a member that ended.
 */

import { hash } from 'node:crypto'

import type { Env } from '../../../../../cluster/index.ts'
import { memberOf, textAt, valueIn } from '../../../../json/index.ts'
import type { Document, DocumentPlace, DocumentPort, Hour,
  Uuid } from '../../../../platform/index.ts'
import { bucketOf } from '../rows/partition-key.ts'
import { lengthenHours, rewriteBucket } from './row-lives.ts'
import type { ProjectLife, RowLivesParts } from './row-lives.ts'

/** The list of all changes that are not finished. */
const place: DocumentPlace = { tenant: '*', kind: 'life_change',
  owner: '6c696665-0000-8000-8000-000000000000' }
/** Changes of a page. */
const pageOf = 100
/** Pauses before the first look at the list, and between looks. */
const [firstMs, lookMs] = [10_000, 60_000]
/** Time after which no write has a life from before a change. */
const settledMs = 60_000
/** Age at which a change of another member is continued here: that member may have ended. */
const foreignMs = 600_000

/** Rows, list and clock of changes. */
export interface LifeChangesParts extends RowLivesParts {
  readonly documents: Pick<DocumentPort, 'putDocuments' | 'listDocuments' | 'deleteDocuments'>
  readonly hours: (tenant: string, project: Uuid) => Promise<readonly Hour[]>
  /** Seconds for which an hour lives longer than its spans. */
  readonly hourLongerS: number
  /** False for a store that only reads: it continues no changes. */
  readonly isWriter: boolean
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs' | 'after' | 'log' | 'uuid'>
}

interface Change extends ProjectLife {
  readonly key: string
  /** Number among the changes of its project. */
  readonly no: number
  readonly atMs: number
}

/** The changes that this member makes or continues. */
export class LifeChanges {
  readonly #parts: LifeChangesParts
  /** Monotonic time at which all rows were rewritten a first time, by change. */
  readonly #rewritten = new Map<string, number>()
  /** Keys of changes that were made here. */
  readonly #own = new Set<string>()
  #working: Promise<void> | undefined
  #isClosed = false
  #stopTimer: () => void

  constructor(parts: LifeChangesParts) {
    this.#parts = parts
    this.#stopTimer = parts.isWriter
      ? parts.env.after(firstMs, () => this.#look())
      : () => {}
  }

  /** Resolves when the change is durable. Rows are rewritten after that. */
  async change({ tenant, project, lifeS }: ProjectLife): Promise<void> {
    const { documents, env } = this.#parts
    const prefix = `${project}.${hash('sha1', tenant)}.`
    const before = changesIn(
      await documents.listDocuments(place, { after: prefix, before: `${prefix}\u007f`,
        limit: pageOf }),
    )
    const no = Math.max(0, ...before.map((change) => change.no)) + 1
    const key = `${prefix}${env.uuid()}`
    const body = JSON.stringify({ tenant, project, lifeS, no, atMs: env.nowMs() })
    this.#own.add(key)
    await documents.putDocuments(place, [{ key, body: Buffer.from(body) }])
    this.#look()
  }

  /** Resolves when all changes that are due here are as far as they can be now. */
  async settle(): Promise<void> {
    while (this.#working !== undefined) await this.#working
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopTimer()
    await this.settle()
  }

  #look(): void {
    if (this.#isClosed) return
    this.#stopTimer()
    const before = this.#working ?? Promise.resolve()
    const work = before.then(() => this.#continueAll()).catch((error: unknown) => {
      this.#parts.env.log.debug('Spans get their new end of life later.', { error })
    }).then(() => {
      if (this.#working !== work) return
      this.#working = undefined
      if (!this.#isClosed) this.#stopTimer = this.#parts.env.after(lookMs, () => this.#look())
    })
    this.#working = work
  }

  async #continueAll(): Promise<void> {
    for (let after = '';;) {
      const page = await this.#parts.documents.listDocuments(place, { after, limit: pageOf })
      if (page.length === 0) return
      after = page.at(-1)!.key
      const projects = Map.groupBy(changesIn(page), ({ tenant, project }) => `${project} ${tenant}`)
      for (const changes of projects.values()) {
        if (this.#isClosed) return
        await this.#continue(changes.toSorted((a, b) => a.no - b.no))
      }
    }
  }

  /** Continues the last change of a project, and drops those before it. */
  async #continue(changes: readonly Change[]): Promise<void> {
    const { documents, env } = this.#parts
    const last = changes.at(-1)!
    const ageMs = Math.abs(env.nowMs() - last.atMs)
    if (!this.#own.has(last.key) && ageMs < foreignMs) return
    const rewrittenMs = this.#rewritten.get(last.key)
    // The second pass rewrites the rows of requests that started before the change.
    if (rewrittenMs !== undefined && env.monotonicMs() - rewrittenMs < settledMs) return
    await this.#rewrite(last)
    if (this.#isClosed) return
    if (rewrittenMs === undefined) {
      this.#rewritten.set(last.key, env.monotonicMs())
      return
    }
    const keys = changes.map(({ key }) => key)
    await documents.deleteDocuments(place, keys)
    for (const key of keys) {
      this.#rewritten.delete(key)
      this.#own.delete(key)
    }
  }

  /** Rewrites the oldest spans first, because they end first. */
  async #rewrite(change: ProjectLife): Promise<void> {
    const { hours, hourLongerS } = this.#parts
    await lengthenHours(this.#parts, change, hourLongerS)
    const known = await hours(change.tenant, change.project)
    for (const bucket of [...new Set(known.map(bucketOf))].toSorted((a, b) => a - b)) {
      if (this.#isClosed) return
      await rewriteBucket(this.#parts, change, bucket, () => this.#isClosed)
    }
  }
}

function changesIn(documents: readonly Document[]): readonly Change[] {
  return documents.flatMap(({ key, body }) => {
    const value = valueIn(Buffer.from(body).toString())
    const [tenant, project] = [textAt(value, 'tenant'), textAt(value, 'project')]
    const [lifeS, no, atMs] = ['lifeS', 'no', 'atMs'].map((name) => memberOf(value, name))
    if (tenant === undefined || project === undefined) return []
    return [{ key, tenant, project, lifeS: Number(lifeS), no: Number(no), atMs: Number(atMs) }]
  })
}
