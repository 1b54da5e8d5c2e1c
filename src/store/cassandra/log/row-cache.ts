/**
 * Rows and places of checkpoints that this member knows of the logs that it reads and writes.
 *
 * Rule: [cache_ends].
 */

import { ByteBudget } from '../../../../cluster/index.ts'
import type { CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'
import type { LogEntry, NewRow, Segment } from '../../../checkpoint/index.ts'
import type { BranchWriter } from './branch-writer.ts'
import type { EpochRangeList, Slice } from './epoch-range.ts'
import { KnownRows } from './known-rows.ts'
import type { StoredRow } from './log-row.ts'

/** Approximate bytes of a branch without its rows and places. */
const branchBytes = 1_000
/** Approximate bytes of a place besides its name. */
const placeBytes = 200
/** Approximate bytes of a line without its epoch ranges, and of each of those. */
const [lineBytes, rangeBytes] = [200, 60]
/** A branch fills no more than this part of the cache. Of a longer one, the newest rows stay. */
const branchShare = 1 / 4

/** Writer of a branch, as far as it is known here. */
type Writer = Pick<BranchWriter, 'settledSeq'>

/** The part of a branch up to a fork point. */
export interface ForkedLine extends Segment {
  readonly ranges: EpochRangeList
}

/** Places by name; null for a name that has none. */
type Places = Map<string, CheckpointPlace | null>

/** A row with what it states. A body in chunks is not there. */
type NewestRow = Pick<StoredRow, 'epoch' | 'seq' | 'body' | 'places'> & { readonly chunks?: number }

/** Knowledge of one branch, until it is forgotten. */
interface KnownBranch {
  readonly id: string
  readonly rows: KnownRows
  /** The branch writer that `places` are of. */
  writer: Writer | undefined
  /** Places as of the last settled row of that writer. */
  readonly places: Places
  /** `places` has every name that this row or a later one states. */
  placedFrom: number
  /** Places as of a fork point, which never change, by that and the name. */
  readonly forked: Places
  /** Parts of the branch up to fork points, which never change, by those. */
  readonly lines: Map<number, ForkedLine>
  /** Bytes of the places and of the lines. */
  namedBytes: number
}

/**
 * A lookup: what is known, or a way to remember what is found elsewhere. Rows from `placedFrom` on
 * do not state the name.
 */
export type KnownPlace =
  | { readonly place: CheckpointPlace | undefined }
  | { readonly learn: (place: CheckpointPlace | undefined) => void; readonly placedFrom: number }

/**
 * Caches rows and places of all branches, bounded by bytes. The branch that was used least recently
 * goes first.
 *
 * A row never changes, and is found only under the epoch that the branch names for it. So a row
 * that is known is as good as one that is read, and passes the same check: the reply fence confirms
 * the session after the turn, and what a member without its shards found in memory never leaves it
 * [reply_fence]. A rollback is a row of its own, and changes no other. A copy reads the rows of its
 * ancestors under their names. What is known ends only with the writer of the branch, as another
 * owner may have placed checkpoints since; with a shard that is given back; and with a deletion.
 */
export class RowCache {
  readonly #budget: ByteBudget<KnownBranch>
  readonly #shareBytes: number
  readonly #branches = new Map<string, KnownBranch>()
  #hits = 0
  #misses = 0

  constructor(limitBytes: number) {
    this.#budget = new ByteBudget(limitBytes)
    this.#shareBytes = limitBytes * branchShare
  }

  /** Count of reads that it answered and that it could not answer; and its bytes. */
  get stats(): { readonly hits: number; readonly misses: number; readonly bytes: number } {
    return { hits: this.#hits, misses: this.#misses, bytes: this.#budget.bytes }
  }

  /** All rows of the slice, oldest first; undefined if not all of them are known. */
  rows(branchId: string, slice: Slice): readonly LogEntry[] | undefined {
    const known = this.#branches.get(branchId)
    const rows = known?.rows.slice(slice)
    if (known && rows) this.#used(known)
    this.#count(rows !== undefined)
    return rows
  }

  /** Remembers rows that were read. They follow each other, oldest first. */
  addRead(branchId: string, rows: readonly LogEntry[]): void {
    if (rows.length === 0) return
    const known = this.#known(branchId)
    known.rows.add(rows.map(({ epoch, seq, body }) => ({ epoch, seq, body: alone(body) })))
    this.#used(known)
  }

  /** Call when a branch gets a new writer, with its newest rows; undefined if it has no rows. */
  begin(branchId: string, writer: Writer, newest: readonly StoredRow[] | undefined): void {
    this.forget(branchId)
    const known = this.#known(branchId)
    known.writer = writer
    known.placedFrom = newest?.[0]?.seq ?? 0
    for (const row of newest ?? []) this.#addRow(known, row)
    this.#used(known)
  }

  /** Remembers a row when it and all before it are on a quorum. */
  settled(branchId: string, writer: Writer, row: NewRow): void {
    const known = this.#of(branchId, writer, row.seq)
    if (known.writer !== writer) return
    this.#addRow(known, row)
    this.#used(known)
  }

  /** Looks up a place as of the last settled row of the writer, if a row after that one has it. */
  placeNow(branchId: string, writer: Writer, name: string, statedAfter = 0): KnownPlace {
    const known = this.#of(branchId, writer, writer.settledSeq + 1)
    const isOf = () => known.writer === writer
    const isKnown = isOf() && (known.placedFrom <= statedAfter + 1 || known.places.has(name))
    this.#count(isKnown)
    if (isKnown) return { place: known.places.get(name) ?? undefined }
    return { placedFrom: isOf() ? known.placedFrom : Infinity, learn: (found) => {
      if (isOf()) this.#learn(known, known.places, name, found)
    } }
  }

  /** Looks up a place as of a fork point. */
  placeAt(branchId: string, through: number, name: string): KnownPlace {
    const known = this.#known(branchId)
    const key = `${through} ${name}`
    const place = known.forked.get(key)
    this.#count(place !== undefined)
    if (place !== undefined) return { place: place ?? undefined }
    return { placedFrom: Infinity, learn: (found) => this.#learn(known, known.forked, key, found) }
  }

  /** The part of a branch up to a fork point; undefined if it is not known. */
  lineAt(branchId: string, through: number): ForkedLine | undefined {
    const known = this.#branches.get(branchId)
    const line = known?.lines.get(through)
    if (known && line) this.#used(known)
    return line
  }

  /** Remembers the part of a branch up to a fork point. */
  addLine(line: ForkedLine): void {
    const known = this.#known(line.id)
    if (known.lines.has(line.through)) return
    known.lines.set(line.through, line)
    known.namedBytes += lineBytes + rangeBytes * line.ranges.length
    this.#used(known)
  }

  /** Forgets the parts of a branch, which may be removed. */
  forgetLines(branchId: string): void {
    const known = this.#branches.get(branchId)
    if (!known) return
    for (const { ranges } of known.lines.values()) {
      known.namedBytes -= lineBytes + rangeBytes * ranges.length
    }
    known.lines.clear()
    this.#used(known)
  }

  /** Forgets a branch whose rows are removed. */
  forget(branchId: string): void {
    const known = this.#branches.get(branchId)
    if (known) this.#budget.release(known)
    this.#branches.delete(branchId)
  }

  /** Forgets everything, as other members may write to some of it from now on. */
  clear(): void {
    for (const branchId of [...this.#branches.keys()]) this.forget(branchId)
  }

  #known(id: string): KnownBranch {
    const known = this.#branches.get(id)
    if (known) return known
    const made: KnownBranch = { id, rows: new KnownRows(this.#shareBytes), writer: undefined,
      places: new Map(), placedFrom: Infinity, forked: new Map(), lines: new Map(), namedBytes: 0 }
    this.#branches.set(id, made)
    this.#used(made)
    return made
  }

  /** The branch of a writer. If it was forgotten meanwhile, places are known from that row on. */
  #of(branchId: string, writer: Writer, placedFrom: number): KnownBranch {
    const known = this.#known(branchId)
    if (known.writer === undefined) Object.assign(known, { writer, placedFrom })
    return known
  }

  #addRow(known: KnownBranch, { epoch, seq, body, places, chunks = 0 }: NewestRow): void {
    for (const place of places) put(known, known.places, place.id, place)
    if (chunks === 0) known.rows.add([{ epoch, seq, body: alone(body) }])
  }

  /** A row may have placed the name while it was looked up: that is newer. */
  #learn(known: KnownBranch, places: Places, name: string,
    found: CheckpointPlace | undefined): void {
    if (this.#branches.get(known.id) !== known || places.has(name)) return
    put(known, places, name, found ?? null)
    this.#used(known)
  }

  #used(known: KnownBranch): void {
    // Callers choose names and fork points, so these do not fill the cache either.
    if (known.namedBytes > this.#shareBytes) return this.forget(known.id)
    const bytes = branchBytes + known.rows.bytes + known.namedBytes
    this.#budget.hold(known, bytes, () => void this.#branches.delete(known.id))
  }

  #count(isHit: boolean): void {
    if (isHit) this.#hits += 1
    else this.#misses += 1
  }
}

function put(known: KnownBranch, places: Places, name: string,
  place: CheckpointPlace | null): void {
  if (!places.has(name)) known.namedBytes += placeBytes + 2 * name.length
  places.set(name, place)
}

/** Copies the body out of the response that contains it, which would stay in memory as a whole. */
function alone(body: Uint8Array): Uint8Array {
  return body.buffer.byteLength > body.byteLength ? new Uint8Array(body) : body
}
