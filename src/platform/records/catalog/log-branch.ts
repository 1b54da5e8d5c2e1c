/** One branch of a log, as its owner in one epoch reads and writes it. Rule: [open_row]. */

import { decodeRow, encodeRow } from '../../../checkpoint/index.ts'
import type { LogPort, RecordOf } from '../../../checkpoint/index.ts'
import { HeddleError } from '../../../errors.ts'

/** The part of the log that catalogs use. */
export type CatalogLogPort = Pick<LogPort,
  'shared' | 'newBranchId' | 'open' | 'append' | 'tail' | 'read' | 'purge'>

/** Log, tenant and epoch of the branch's writer. */
export interface LogBranchOptions {
  readonly log: CatalogLogPort
  readonly tenant: string
  readonly epoch: number
}

/** A row that was read. */
export interface ReadRow {
  readonly seq: number
  readonly records: readonly RecordOf[]
}

/** Rows that are read together, and their bytes if there is more than one. */
const [pageRows, pageBytes] = [500, 1024 * 1024]

/** A branch without ancestors, with its end. */
export class LogBranch {
  readonly id: string
  readonly #options: LogBranchOptions
  #end = { epoch: 0, seq: 0 }
  #bytes = 0

  constructor(options: LogBranchOptions, id: string) {
    this.#options = options
    this.id = id
  }

  /** Rows that it has. */
  get rows(): number {
    return this.#end.seq
  }

  /** Bytes of the rows that were read or appended. */
  get bytes(): number {
    return this.#bytes
  }

  /** Finds its end, as a new owner. Call `begin` before anything is answered. */
  async open(): Promise<void> {
    const { log, epoch } = this.#options
    await owned(async () => {
      if (log.shared) await log.open(this.#branch, epoch)
      this.#end = await log.tail(this.#branch) ?? this.#end
    })
  }

  /** Begins the epoch: no owner before can append from then on. */
  async begin(): Promise<void> {
    const { log, epoch } = this.#options
    if (!log.shared || this.#end.epoch === epoch) return
    await this.append([{ $case: 'opened', value: { epoch } }])
  }

  /** Appends a row. Resolves with its number when it is durable. */
  async append(records: readonly RecordOf[]): Promise<number> {
    const { log, tenant, epoch } = this.#options
    const { epoch: prevEpoch, seq: before } = this.#end
    const body = encodeRow(records)
    const { byteLength } = body
    const seq = before + 1
    const row = { tenant, branch: this.#branch, epoch, seq, prevEpoch, body, places: [] }
    await owned(() => log.append([row], []))
    this.#end = { epoch, seq }
    this.#bytes += byteLength
    return seq
  }

  /** The rows up to the end that `open` found, newest first. */
  async *backwards(): AsyncGenerator<ReadRow> {
    for (let through = this.#end.seq; through >= 1;) {
      const range = { from: 1, through, reverse: true, limit: pageRows, bytes: pageBytes }
      const page = await owned(() => this.#options.log.read(this.#branch, range))
      for (const { seq, body } of page) {
        this.#bytes += body.byteLength
        yield { seq, records: decodeRow(body) }
      }
      through = (page.at(-1)?.seq ?? 1) - 1
    }
  }

  /** Removes all of it. */
  purge(): Promise<void> {
    const { log, epoch } = this.#options
    return log.purge({ table: 'branch', branch: this.#branch, epoch })
  }

  get #branch() {
    return { id: this.id, ancestors: [] }
  }
}

/**
 * Result of some work on a branch. Only a newer owner removes a branch that is in use: a missing
 * one is `stale_append`, not `not_found`.
 */
async function owned<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_found') throw error
    throw new HeddleError('stale_append', undefined, {}, { cause: error })
  }
}
