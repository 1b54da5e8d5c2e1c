/** The end of the log is found among rows that are late, lost, or of deposed owners. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { comparePositions, historyTo,
  tailOf } from '../../../../../src/store/cassandra/log/chain.ts'
import type { ChainRow, Position } from '../../../../../src/store/cassandra/log/chain.ts'
import { slicesOf } from '../../../../../src/store/cassandra/log/epoch-range.ts'
import type { EpochRangeList } from '../../../../../src/store/cassandra/log/epoch-range.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

const row = (epoch: number, seq: number, prevEpoch: number, settledSeq: number): ChainRow => ({
  epoch,
  seq,
  prevEpoch,
  settledSeq,
})
const newestFirst = (...rows: ChainRow[]) => rows.toSorted(comparePositions)
const endOf = (...rows: ChainRow[]) => {
  const tail = tailOf(newestFirst(...rows))
  return typeof tail === 'string' ? tail : [tail.epoch, tail.seq]
}

describe('the end of the chain', () => {
  it('is none if there is no row', () => {
    expect(endOf()).toBe('none')
  })

  it('is the row of the newest epoch, however far a deposed owner got', () => {
    expect(endOf(row(1, 1, 0, 0), row(1, 2, 1, 1), row(1, 3, 1, 1), row(2, 2, 1, 1)))
      .toEqual([2, 2])
  })

  it('is before the first row that is missing', () => {
    expect(endOf(row(1, 1, 0, 0), row(1, 3, 1, 1), row(1, 4, 1, 1))).toEqual([1, 1])
  })

  it('is not a row behind a lost one, though a former owner wrote one with that number', () => {
    expect(endOf(row(1, 1, 0, 0), row(1, 2, 1, 1), row(2, 3, 2, 1))).toEqual([1, 2])
  })

  it('does not depend on rows below one that is known to be on a quorum', () => {
    expect(endOf(row(1, 7, 1, 5), row(1, 6, 1, 5))).toEqual([1, 7])
    expect(endOf(row(1, 7, 1, 5))).toBe('none')
  })

  it('has behind it the rows that were not known to be on a quorum', () => {
    const rows = newestFirst(row(1, 4, 1, 2), row(1, 3, 1, 2), row(1, 2, 1, 0), row(1, 1, 0, 0))
    const tail = tailOf(rows) as ChainRow
    expect(historyTo(tail, rows).toReversed()).toEqual(rows)
  })

  it('is preceded by rows of the history only, as far as they were read', () => {
    const [deposed, ...history] = [row(2, 3, 1, 2), row(1, 1, 0, 0), row(1, 2, 1, 1),
      row(1, 3, 1, 2), row(3, 4, 1, 3)]
    const tail = history.at(-1)!
    const seen = newestFirst(deposed!, ...history)
    expect(historyTo(tail, seen)).toEqual(history)
    expect(historyTo(tail, seen.filter(({ seq }) => seq !== 2)))
      .toEqual(history.filter(({ seq }) => seq > 2))
  })

  it('is unseen if rows that were not read decide', () => {
    const missing = newestFirst(row(2, 8, 2, 5), row(2, 7, 2, 5))
    expect(tailOf(missing, { epoch: 2, seq: 7 })).toBe('unseen')
    expect(tailOf(newestFirst(row(1, 3, 1, 2)), { epoch: 2, seq: 9 })).toBe('unseen')
    const decided = newestFirst(row(2, 8, 2, 6), row(2, 7, 2, 5))
    expect(tailOf(decided, { epoch: 2, seq: 7 })).toBe(decided[0])
  })
})

/** A row somewhere in the model's partitions. */
interface ModelRow extends ChainRow {
  readonly bucket: number
  readonly ranges: EpochRangeList
}

/** What becomes of a row that is sent. Its owner does not know whether a late one is lost. */
type Fate = 'lands' | 'late' | 'lost'

type Step =
  | { readonly kind: 'send'; readonly owner: number; readonly fate: Fate }
  | { readonly kind: 'retry'; readonly owner: number }
  | { readonly kind: 'deliver'; readonly at: number }
  | { readonly kind: 'take over'; readonly fate: Fate }

const fates = fc.constantFrom<Fate>('lands', 'lands', 'lands', 'late', 'lost')
/** Which owner acts, counted back from the newest. */
const owners = fc.constantFrom(0, 0, 0, 0, 1, 2)
const steps: fc.Arbitrary<Step[]> = fc.array(fc.oneof(
  { weight: 8,
    arbitrary: fc.record({ kind: fc.constant('send' as const), owner: owners, fate: fates }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('retry' as const), owner: owners }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('deliver' as const), at: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('take over' as const), fate: fates }) },
), { minLength: 5, maxLength: 80 })

/** A model with one owner after another, four rows in flight and two rows per bucket. */
class Model {
  readonly there: ModelRow[] = []
  /** Rows that may arrive later, even after the end of their owner. */
  readonly late: ModelRow[] = []
  readonly owners: Owner[] = []
  /** In the order of the log; a reader must never miss any of them. */
  readonly acknowledged: Position[] = []

  do(step: Step): void {
    switch (step.kind) {
      case 'take over':
        return this.#takeOver(step.fate)
      case 'deliver': {
        const [row] = this.late.splice(step.at % Math.max(1, this.late.length), 1)
        if (row) this.#land(row)
        break
      }
      case 'send':
        this.owners.at(-1 - step.owner)?.send(step.fate, this)
        break
      case 'retry':
        this.owners.at(-1 - step.owner)?.retry(this)
    }
    this.#acknowledge()
  }

  /** What a reader finds now, with pages of two rows at first. */
  look(): { tail: ModelRow; history: ModelRow[] } | undefined {
    for (let limit = 2;; limit *= 2) {
      const newest = Math.max(0, ...this.there.map(({ bucket }) => bucket))
      const pages = [newest, newest - 1].map((bucket) =>
        this.there
          .filter((each) => each.bucket === bucket).toSorted(comparePositions).slice(0, limit)
      )
      const floor = pages.filter(({ length }) => length === limit).map((page) => page.at(-1)!)
        .toSorted(comparePositions)[0]
      const tail = tailOf(pages.flat().toSorted(comparePositions), floor)
      if (tail === 'none') return undefined
      if (tail !== 'unseen') return { tail, history: this.#history(tail) }
    }
  }

  send(row: ModelRow, fate: Fate): void {
    if (fate === 'lands') this.#land(row)
    if (fate === 'late') this.late.push(row)
  }

  has({ epoch, seq }: Position): boolean {
    return this.there.some((row) => row.epoch === epoch && row.seq === seq)
  }

  /** A row that is sent twice is stored once. */
  #land(row: ModelRow): void {
    if (!this.has(row)) this.there.push(row)
  }

  #takeOver(fate: Fate): void {
    const found = this.look()?.tail
    this.owners.push(new Owner(this.owners.length + 1, found))
    this.owners.at(-1)!.send(fate, this)
    this.#acknowledge()
  }

  /** Only what the newest owner wrote passes the ownership check. */
  #acknowledge(): void {
    const owner = this.owners.at(-1)
    for (const row of owner?.settle(this) ?? []) this.acknowledged.push(row)
    if (owner) owner.acknowledgedSeq = owner.settledSeq
  }

  #history(tail: ModelRow): ModelRow[] {
    return slicesOf(tail.ranges, 1, tail.seq).flatMap((slice) =>
      this.there
        .filter(({ epoch, bucket, seq }) =>
          epoch === slice.epoch && bucket === slice.bucket &&
          seq >= slice.from && seq <= slice.through
        )
        .toSorted((a, b) => a.seq - b.seq)
    )
  }
}

class Owner {
  readonly epoch: number
  settledSeq: number
  acknowledgedSeq: number
  readonly #inFlight: ModelRow[] = []
  #tip: Position
  #bucket: number
  #ranges: EpochRangeList

  constructor(epoch: number, found: ModelRow | undefined) {
    this.epoch = epoch
    this.#tip = found ?? { epoch: 0, seq: 0 }
    this.#bucket = found?.bucket ?? 0
    this.#ranges = found?.ranges ?? []
    this.settledSeq = this.acknowledgedSeq = this.#tip.seq
  }

  send(fate: Fate, model: Model): void {
    const { epoch } = this
    this.settle(model)
    if (this.#inFlight.length === 4 || !this.#roll(model)) return
    const seq = this.#tip.seq + 1
    const last = this.#ranges.at(-1)
    if (last?.epoch !== epoch || last.bucket !== this.#bucket) {
      this.#ranges = [...this.#ranges, { epoch, bucket: this.#bucket, from: seq }]
    }
    const row = { epoch, seq, prevEpoch: this.#tip.epoch, settledSeq: this.settledSeq,
      bucket: this.#bucket, ranges: this.#ranges }
    this.#tip = row
    this.#inFlight.push(row)
    model.send(row, fate)
  }

  /** Sends the oldest row in flight again. */
  retry(model: Model): void {
    const row = this.#inFlight[0]
    if (row) model.send(row, 'lands')
  }

  /** Settles rows that are stored together with all before them. */
  settle(model: Model): ModelRow[] {
    const settled: ModelRow[] = []
    while (this.#inFlight[0] && model.has(this.#inFlight[0])) {
      const row = this.#inFlight.shift()!
      this.settledSeq = row.seq
      settled.push(row)
    }
    return settled
  }

  /** False while the bucket is full and rows in it are not acknowledged. */
  #roll(model: Model): boolean {
    const rows = model.there.concat(this.#inFlight, model.late).filter(({ epoch, bucket }) =>
      epoch === this.epoch && bucket === this.#bucket
    )
    if (new Set(rows.map(({ seq }) => seq)).size < 2) return true
    if (this.#inFlight.length > 0 || this.acknowledgedSeq < this.#tip.seq) return false
    this.#bucket++
    return true
  }
}

describe('the chain against a model of successive owners', () => {
  it('has every acknowledged row, in order, at any time', () => {
    expectAlways(fc.property(steps, (steps) => {
      const model = new Model()
      for (const step of steps) {
        model.do(step)
        const history = model.look()?.history ?? []
        expect(history.map(({ seq }) => seq)).toEqual(history.map((_, index) => index + 1))
        const found = new Set(history)
        expect(model.acknowledged.filter((each) => !found.has(each as ModelRow))).toEqual([])
      }
    }), { share: 3 })
  })
})
