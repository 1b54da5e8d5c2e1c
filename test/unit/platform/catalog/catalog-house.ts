/** A catalog over a log in memory, with lives that end without a word. */

import { ActivationTable } from '../../../../cluster/index.ts'
import { catalogKind } from '../../../../src/platform/records/catalog/catalog-actor.ts'
import { catalogClient } from '../../../../src/platform/records/catalog/catalog-client.ts'
import type { CatalogClient } from '../../../../src/platform/records/catalog/catalog-client.ts'
import type { CatalogCommand } from '../../../../src/platform/records/catalog/catalog-command.ts'
import { catalogLimits } from '../../../../src/platform/records/catalog/catalog-record.ts'
import type { CatalogLimits, CatalogRecord,
  NewRecord } from '../../../../src/platform/records/catalog/catalog-record.ts'
import type { RecordPage,
  RecordQuery } from '../../../../src/platform/records/catalog/record-query.ts'
import { virtualEnv } from '../../../support/env.ts'
import { MemoryLog } from '../../../support/memory-log.ts'
import { settled } from '../../../support/thread-house.ts'

/** What becomes of an append: it is done, or the writer dies before or after it. */
export type Fate = 'done' | 'lost before' | 'lost after'

const never = new Promise<never>(() => {})

class LossyLog extends MemoryLog {
  override shared = true
  fate: Fate = 'done'
  /** Appends that are done; none after these. */
  appendsLeft = Infinity
  /** False: removals are not done, and never answered. */
  purges = true
  refused = 0

  override async purge(subject: Parameters<MemoryLog['purge']>[0]): Promise<void> {
    if (this.purges) return super.purge(subject)
    this.refused++
    return never
  }

  override async append(...args: Parameters<MemoryLog['append']>): Promise<void> {
    if (this.fate === 'lost before' || --this.appendsLeft < 0) return never
    await super.append(...args)
    if (this.fate === 'lost after') return never
  }
}

/** A member with one catalog. */
export class CatalogHouse {
  readonly env = virtualEnv()
  readonly log = new LossyLog()
  readonly limits: CatalogLimits
  #epoch = 0
  #ids = 0
  #activations!: ActivationTable

  constructor(limits: Partial<CatalogLimits> = {}) {
    this.limits = { ...catalogLimits, ...limits }
    this.start()
  }

  /** Begins a life. The one before is not notified. */
  start(): void {
    const { env, log, limits } = this
    log.fate = 'done'
    log.appendsLeft = Infinity
    this.#epoch++
    this.#activations = new ActivationTable({ env, kinds: [catalogKind({ env, log, limits })] })
  }

  /** Ends all activations in peace. */
  async close(): Promise<void> {
    await this.#activations.close(AbortSignal.abort())
  }

  /** The catalogs of all tenants. Deletions take up to a second of the clock. */
  client(): CatalogClient {
    return catalogClient({
      ask: (key, command) => {
        void settled().then(() => this.env.advance(1_000))
        return this.#activations.ask(key, this.#epoch, command, `client ${++this.#ids}`)
      },
      follow: () => Promise.reject(new Error('nothing to follow')),
    })
  }

  ask(command: CatalogCommand, id = `command ${++this.#ids}`): Promise<unknown> {
    const key = { kind: 'catalog', tenant: 't', id: 'project' }
    return this.#activations.ask(key, this.#epoch, command, id)
  }

  /** The answer, or the code of the error, when the time that it takes has passed. */
  async outcome(command: CatalogCommand, fate: Fate = 'done'): Promise<unknown> {
    const id = `command ${++this.#ids}`
    this.log.fate = fate
    const answers: unknown[] = []
    const ask = () =>
      this.ask(command, id).then((value) => answers.push(value),
        ({ code }: { readonly code: string }) => answers.push(code))
    void ask()
    await this.#second()
    if (answers.length === 0) {
      this.start()
      void ask()
      await this.#second()
    }
    this.log.fate = 'done'
    return answers[0]
  }

  /** Lets everything happen that happens within a second. */
  async #second(): Promise<void> {
    await settled()
    this.env.advance(1_000)
    await settled()
  }

  async list(query: Partial<RecordQuery> = {}): Promise<RecordPage> {
    const page = this.ask({ kind: 'list',
      query: { sortBy: 'name', descending: false, limit: 100, offset: 0, ...query } })
    await settled()
    this.env.advance(0)
    return await page as RecordPage
  }

  async names(query: Partial<RecordQuery> = {}): Promise<string[]> {
    return (await this.list(query)).records.map(({ name }) => name)
  }

  async create(record: Partial<NewRecord> & { readonly name: string }): Promise<CatalogRecord> {
    return await this.ask({ kind: 'create', record: newRecord(record) }) as CatalogRecord
  }
}

/** A new record whose id is made of its name. */
export function newRecord(record: Partial<NewRecord> & { readonly name: string }): NewRecord {
  return { id: `id of ${record.name}`, orderMs: 0, parentId: '', metadataJson: '{}', bodyJson: '{}',
    ...record }
}
