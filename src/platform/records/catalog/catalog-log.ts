/**
 * The log of one catalog: writes records into rows, and reads them back.
 *
 * A row has whole records, so the newest row that names a record decides. When the log is much
 * longer than its records need, they are written to a new branch, and the branch before is removed.
 * A root branch, whose id any member can compute, names the branch that counts.
 */

import type { CatalogMoved } from '../../../../proto/gen/storage/v1/catalog.ts'
import type { AppliedCommand } from '../../../../proto/gen/storage/v1/row.ts'
import { withApplied } from '../../../owned-row/index.ts'
import type { RecordOf } from '../../../checkpoint/index.ts'
import type { CatalogRecord } from './catalog-record.ts'
import { LogBranch } from './log-branch.ts'
import type { LogBranchOptions, ReadRow } from './log-branch.ts'
import { namedId } from './named-id.ts'

/** Characters and number of the records in one row of a new branch. */
const [sliceCharacters, sliceRecords] = [256 * 1024, 500]

/**
 * Factors above which a log is long: rows and bytes, as multiples of the needed ones, and some
 * more.
 */
const [spareFactor, spareBytes] = [4, 4 * 1024 * 1024]

/** State of a catalog, as its log has it. */
export interface CatalogState {
  /** Oldest change first. */
  readonly records: readonly CatalogRecord[]
  readonly applied: readonly AppliedCommand[]
}

/** Whose log it is, and the epoch in which it is written. */
export interface CatalogLogOptions extends LogBranchOptions {
  readonly collection: string
  /** Superfluous rows that it may have before it moves to a new branch. */
  readonly spareRows: number
}

/** The log of one catalog, as its owner in one epoch reads and writes it. */
export class CatalogLog {
  readonly #options: CatalogLogOptions
  readonly #root: LogBranch
  /** Undefined before the first record. */
  #current: LogBranch | undefined

  constructor(options: CatalogLogOptions) {
    this.#options = options
    const { tenant, collection } = options
    this.#root = new LogBranch(options, namedId('branch', `${tenant}\n${collection}`))
  }

  /** Takes the log over, and reads it. */
  async open(): Promise<CatalogState> {
    await this.#root.open()
    const moved = await newestMove(this.#root)
    await this.#root.begin()
    if (moved === undefined) return { records: [], applied: [] }
    const current = this.#current = new LogBranch(this.#options, moved.branchId)
    await current.open()
    const reader = new BackwardsReader()
    for await (const row of current.backwards()) reader.take(row)
    await current.begin()
    // Its removal may have been interrupted.
    if (moved.endedBranchId !== '') await this.#remove(moved.endedBranchId)
    return { records: reader.records.reverse(), applied: reader.applied }
  }

  /** Appends a row. Resolves with its number when it is durable. */
  async append(records: readonly RecordOf[]): Promise<number> {
    if (this.#current !== undefined) return this.#current.append(records)
    const first = this.#newBranch()
    const seq = await first.append(records)
    await this.#moveTo(first, '')
    return seq
  }

  /** True if it would be much shorter in a new branch. */
  isLong({ size, characters }: { readonly size: number; readonly characters: number }): boolean {
    const { rows, bytes } = this.#current ?? { rows: 0, bytes: 0 }
    return rows > spareFactor * size + this.#options.spareRows
      || bytes > spareFactor * characters + spareBytes
  }

  /** Moves to a new branch, which has only this state. */
  async shorten({ records, applied }: CatalogState): Promise<void> {
    const next = this.#newBranch()
    for (const slice of slicesOf(records)) {
      await next.append([{ $case: 'catalogSaved', value: { records: slice } }])
    }
    await next.append([{ $case: 'catalogSnapshot', value: { applied: [...applied] } }])
    const ended = this.#current?.id ?? ''
    await this.#moveTo(next, ended)
    if (ended !== '') await this.#remove(ended)
  }

  #newBranch(): LogBranch {
    return new LogBranch(this.#options, this.#options.log.newBranchId())
  }

  async #moveTo(branch: LogBranch, endedBranchId: string): Promise<void> {
    await this.#root.append([movedTo({ branchId: branch.id, endedBranchId })])
    this.#current = branch
  }

  async #remove(endedBranchId: string): Promise<void> {
    await new LogBranch(this.#options, endedBranchId).purge()
    await this.#root.append([movedTo({ branchId: this.#current!.id, endedBranchId: '' })])
  }
}

function movedTo(value: CatalogMoved): RecordOf {
  return { $case: 'catalogMoved', value }
}

/** Undefined if there is none. */
async function newestMove(root: LogBranch): Promise<CatalogMoved | undefined> {
  for await (const { records } of root.backwards()) {
    for (const record of records) if (record.$case === 'catalogMoved') return record.value
  }
  return undefined
}

function* slicesOf(records: readonly CatalogRecord[]): Generator<CatalogRecord[]> {
  let slice: CatalogRecord[] = []
  let characters = 0
  for (const record of records) {
    slice.push(record)
    characters += record.bodyJson.length + record.metadataJson.length + record.name.length
    if (characters < sliceCharacters && slice.length < sliceRecords) continue
    yield slice
    slice = []
    characters = 0
  }
  if (slice.length > 0) yield slice
}

/** Collects the records of a branch that is read from its end. */
class BackwardsReader {
  /** Newest change first. */
  readonly records: CatalogRecord[] = []
  /** Ids of records that a newer row decided. */
  readonly #decided = new Set<string>()
  /** Newest first. */
  readonly #commands: AppliedCommand[] = []

  /** The newest commands, oldest first. */
  get applied(): readonly AppliedCommand[] {
    return this.#commands.reduceRight<AppliedCommand[]>(
      (list, command) => withApplied(list, command),
      [],
    )
  }

  take({ seq, records }: ReadRow): void {
    for (const record of records.toReversed()) this.#take(seq, record)
  }

  #take(seq: number, record: RecordOf): void {
    switch (record.$case) {
      case 'catalogSaved':
        for (const each of record.value.records.toReversed()) {
          if (this.#decide(each.id)) this.records.push(each)
        }
        break
      case 'catalogDeleted':
        this.#decide(record.value.id)
        break
      case 'commandApplied':
        this.#commands.push({ id: record.value.commandId, seq, atMs: record.value.atMs })
        break
      case 'catalogSnapshot':
        this.#commands.push(...record.value.applied.toReversed())
    }
  }

  /** Decides about a record. False if a newer row has done so. */
  #decide(id: string): boolean {
    if (this.#decided.has(id)) return false
    this.#decided.add(id)
    return true
  }
}
