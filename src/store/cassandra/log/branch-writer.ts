/**
 * One branch as the owner of one epoch writes it: its end as far as known, and the rows in flight.
 *
 * Rule: [order].
 */

import type { CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'
import type { NewRow } from '../../../checkpoint/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Position } from './chain.ts'
import { chunksOf } from './chunk-table.ts'
import type { Commit, Patience } from './commit.ts'
import type { EpochRangeList } from './epoch-range.ts'
import type { BranchEnd } from './log-reader.ts'
import type { OutgoingRow } from './log-row.ts'
import { indexRowUpTo, pendingPlacesOf } from './place-index-row.ts'
import type { StatingRow } from './place-index-row.ts'

/**
 * waiting  not sent: too many rows are in flight, or the bucket is being changed
 * sent     may be on a quorum or not
 * written  on a quorum, though perhaps not yet every row before it
 * refused  certainly not written
 */
type Stage = 'waiting' | 'sent' | 'written' | 'refused'

interface Pending {
  readonly row: NewRow
  readonly durable: PromiseWithResolvers<void>
  stage: Stage
  /** Made when the row is first sent. Every later attempt sends the same bytes. */
  outgoing: OutgoingRow | undefined
  refusal: unknown
}

/**
 * open     rows are sent as they come
 * rolling  the next row goes to a new bucket, which is not taken over yet
 * mending  a row was refused after rows behind it were sent: nothing new is sent
 * lost     something failed: the next writer must read the end of the branch again
 */
type State = 'open' | 'rolling' | 'mending' | 'lost'

/** The branch and epoch of one writer, where it starts, and how it writes a row. */
export interface BranchWriterOptions {
  readonly branchId: string
  readonly epoch: number
  /**
   * End of the branch; undefined for a branch without rows of its own. The writer does not retain
   * its rows.
   */
  readonly end: BranchEnd | undefined
  /** Seq of the row before the first one of the branch. */
  readonly origin: number
  readonly commit: Commit
  readonly patience: Patience
  /** Bytes from which on a bucket takes no more rows. */
  readonly bucketBytes: number
  readonly timestamp: () => bigint
  /** Writes the row, after the chunks that do not fit into it. */
  readonly write: (row: OutgoingRow, body: Uint8Array) => Promise<void>
  /** Called for each row that is durable, in their order, before its append resolves. */
  readonly onSettled: (row: NewRow) => void
  /** Called when no row is in flight any more. */
  readonly onIdle: () => void
}

/** Approximate bytes of a row besides its body, and of a place. */
const [rowBytes, placeBytes] = [100, 160]
/** Approximate bytes in memory of an idle writer, of an epoch range and of a place that waits. */
const held = { writer: 1_500, range: 60, place: 250 } as const
/**
 * Epoch ranges up to which place index rows repeat the list. A longer one is written only where a
 * range begins.
 */
const repeatedMax = 16

/**
 * Sends rows as they come and makes them durable in order. A row is durable when it and every row
 * before it are on a quorum. A row that was certainly not written fails with all rows waiting
 * behind it, if none of those may have been written. Otherwise it is sent again until it is
 * written, because the rows behind it would become history as soon as another row took its place.
 */
export class BranchWriter {
  readonly #options: Omit<BranchWriterOptions, 'end' | 'origin'>
  readonly #waiting: Pending[] = []
  readonly #flying: Pending[] = []
  #state: State = 'open'
  /** The last row that an append was called for. */
  #tip: Position
  #settledSeq: number
  #ranges: EpochRangeList
  #bucket: number
  #bytes: number
  /** Rows whose places wait for the next place index row. */
  #uncarried: readonly StatingRow[]
  #quiet: Promise<void> = Promise.resolve()

  constructor({ end, origin, ...options }: BranchWriterOptions) {
    this.#options = options
    const { epoch, seq } = end?.tail ?? { epoch: 0, seq: origin }
    this.#tip = { epoch, seq }
    this.#settledSeq = this.#tip.seq
    this.#ranges = end?.ranges ?? []
    this.#bucket = end?.tail.bucket ?? 0
    this.#bytes = end?.tail.bucketBytes ?? 0
    this.#uncarried = end?.places.waiting ?? []
  }

  get branchId(): string {
    return this.#options.branchId
  }
  get epoch(): number {
    return this.#options.epoch
  }
  get lost(): boolean {
    return this.#state === 'lost'
  }
  get idle(): boolean {
    return this.#flying.length === 0 && this.#waiting.length === 0
  }
  /** The last row that an append was called for. */
  get tip(): Position {
    return this.#tip
  }
  /** Seq of the last durable row. */
  get settledSeq(): number {
    return this.#settledSeq
  }
  get ranges(): EpochRangeList {
    return this.#ranges
  }
  /** Approximate bytes in memory, without rows in flight. */
  get heldBytes(): number {
    const places = this.#uncarried.reduce((sum, each) => sum + each.places.length, 0)
    return held.writer + held.range * this.#ranges.length + held.place * places
  }
  /** Resolves when every append called so far is durable or has failed. */
  get quiet(): Promise<void> {
    return this.#quiet
  }

  /** Appends a row, which must follow the tip. Resolves when it is durable. */
  append(row: NewRow): Promise<void> {
    const durable = Promise.withResolvers<void>()
    this.#waiting.push({ row, durable, stage: 'waiting', outgoing: undefined, refusal: undefined })
    this.#tip = { epoch: row.epoch, seq: row.seq }
    this.#quiet = durable.promise.catch(() => undefined)
    this.#pump()
    return durable.promise
  }

  #pump(): void {
    const { inFlight } = this.#options.commit
    while (this.#state === 'open' && this.#waiting.length > 0) {
      if (this.#bytes >= this.#options.bucketBytes) {
        if (this.#flying.length === 0) void this.#rollOver()
        return
      }
      if (this.#flying.length >= inFlight) return
      const pending = this.#waiting.shift()!
      pending.outgoing = this.#place(pending.row)
      this.#flying.push(pending)
      void this.#send(pending)
    }
  }

  /** Decides where the row goes, and what it records about the rows before it. */
  #place({ epoch, seq, prevEpoch, body, places: stated }: NewRow): OutgoingRow {
    const bucket = this.#bucket
    const places = lastOfEach(stated)
    const { carried, waiting } = pendingPlacesOf({ epoch, seq, places }, this.#uncarried)
    this.#uncarried = waiting
    const last = this.#ranges.at(-1)
    const begins = last?.epoch !== epoch || last.bucket !== bucket
    if (begins) this.#ranges = [...this.#ranges, { epoch, bucket, from: seq }]
    // The next owner of the branch finds the ranges among its newest rows.
    const isRepeated = indexRowUpTo(seq) === seq && this.#ranges.length <= repeatedMax
    const chunks = chunksOf(body)
    const inRow = chunks === 0 ? body : new Uint8Array()
    this.#bytes += rowBytes + inRow.byteLength + placeBytes * places.length
    return {
      branchId: this.branchId,
      bucket,
      epoch,
      seq,
      prevEpoch,
      settledSeq: this.#settledSeq,
      bucketBytes: this.#bytes,
      ranges: begins || isRepeated ? this.#ranges : undefined,
      places,
      carried,
      body: inRow,
      chunks,
      timestamp: this.#options.timestamp(),
    }
  }

  async #send(pending: Pending): Promise<void> {
    pending.stage = 'sent'
    try {
      await this.#options.write(pending.outgoing!, pending.row.body)
      pending.stage = 'written'
    } catch (error) {
      pending.stage = 'refused'
      pending.refusal = error
    }
    if (this.lost) return
    this.#settle()
    if (this.#flying.some(({ stage }) => stage === 'refused')) this.#mend()
    else if (this.#state === 'mending' && this.#flying.length === 0) this.#state = 'open'
    this.#pump()
    if (this.idle && !this.lost) this.#options.onIdle()
  }

  #settle(): void {
    while (this.#flying[0]?.stage === 'written') {
      const { row, durable } = this.#flying.shift()!
      this.#settledSeq = row.seq
      this.#options.onSettled(row)
      durable.resolve()
    }
  }

  #mend(): void {
    this.#state = 'mending'
    if (this.#flying.some(({ stage }) => stage === 'sent')) return
    // The first one was refused, or it would be settled.
    const { refusal } = this.#flying[0]!
    const { outcome } = HeddleError.from(refusal)
    if (outcome === 'maybe_done' || this.#flying.every(({ stage }) => stage === 'refused')) {
      this.#lose(refusal)
    } else if (this.#options.patience.ended) {
      this.#lose(new HeddleError('unavailable', undefined, { ambiguous: true }, { cause: refusal }))
    } else {
      void this.#sendAgain()
    }
  }

  async #sendAgain(): Promise<void> {
    await this.#options.patience.pause()
    const refused = this.#flying.filter(({ stage }) => stage === 'refused')
    await Promise.all(refused.map((pending) => this.#send(pending)))
  }

  async #rollOver(): Promise<void> {
    this.#state = 'rolling'
    const { branchId, epoch, commit } = this.#options
    const bucket = this.#bucket + 1
    try {
      await commit.rollOver({ branchId, epoch, bucket, seq: this.#settledSeq })
    } catch (error) {
      this.#lose(error)
      return
    }
    this.#bucket = bucket
    this.#bytes = 0
    this.#state = 'open'
    this.#pump()
  }

  #lose(reason: unknown): void {
    this.#state = 'lost'
    for (const { durable } of this.#flying.splice(0)) durable.reject(reason)
    for (const { durable } of this.#waiting.splice(0)) durable.reject(reason)
    this.#options.onIdle()
  }
}

/** Places without earlier ones of the same id. */
function lastOfEach(places: readonly CheckpointPlace[]): readonly CheckpointPlace[] {
  if (places.length < 2) return places
  return [...new Map(places.map((place) => [place.id, place])).values()]
}
