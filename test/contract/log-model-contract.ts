/** The log against a simple model: random appends, copies of copies, deletes, stray writes. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Branch, CheckpointPlace } from '../../proto/gen/storage/v1/row.ts'
import type { NewRow } from '../../src/checkpoint/index.ts'
import { expectAlways } from '../support/expect-always.ts'
import { aBranch, aRow, bodyText, copyOf } from './rows.ts'
import { useStore } from './store-place.ts'
import type { MakePlace, OpenStore } from './store-place.ts'

/** A branch in the model: all of its rows, including those of its ancestors. */
interface ModelBranch {
  readonly branch: Branch
  readonly rows: NewRow[]
  gone: boolean
}

type Operation =
  | { readonly kind: 'append'; readonly at: number; readonly count: number;
    readonly newEpoch: boolean; readonly ids: readonly number[] }
  | { readonly kind: 'stray'; readonly at: number; readonly seqShift: number;
    readonly epochShift: number }
  | { readonly kind: 'copy'; readonly at: number; readonly through: number }
  | { readonly kind: 'purge'; readonly at: number }

const operations: fc.Arbitrary<Operation[]> = fc.array(fc.oneof(
  { weight: 5,
    arbitrary: fc.record({ kind: fc.constant('append' as const), at: fc.nat(),
      count: fc.integer({ min: 1, max: 4 }), newEpoch: fc.boolean(),
      ids: fc.array(fc.nat(5), { maxLength: 2 }) }) },
  { weight: 2,
    arbitrary: fc.record({ kind: fc.constant('copy' as const), at: fc.nat(), through: fc.nat() }) },
  { weight: 1,
    arbitrary: fc.record({ kind: fc.constant('stray' as const), at: fc.nat(),
      seqShift: fc.constantFrom(-1, 1, 0), epochShift: fc.constantFrom(-1, 0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge' as const), at: fc.nat() }) },
), { maxLength: 40 })

const ranges = fc.array(
  fc.record({ from: fc.integer({ min: 1, max: 12 }), through: fc.integer({ min: 0, max: 30 }),
    reverse: fc.boolean(), limit: fc.constantFrom(undefined, 1, 3, 6) }),
  { maxLength: 4 },
)

/** Time limit on a busy machine. */
const longMs = 180_000

export function describeLogModel(name: string, makePlace: MakePlace): void {
  describe(`the log of the ${name} store against a model`, () => {
    const store = useStore(makePlace)

    it('agrees after any appends, copies, deletes and stray writes', async () => {
      await expectAlways(fc.asyncProperty(operations, ranges, async (operations, ranges) => {
        const run = new ModelRun(store)
        for (const operation of operations) await run.do(operation)
        for (const each of run.living) await run.expectAgreement(each, ranges)
      }), { share: 8 })
    }, longMs)

    it('keeps nothing when a log and all that forked from it are deleted', async () => {
      await expectAlways(fc.asyncProperty(operations, fc.nat(), async (operations, seed) => {
        const run = new ModelRun(store)
        for (const operation of operations) await run.do(operation)
        while (run.living.length > 0) await run.do({ kind: 'purge', at: seed })
        for (const { branch } of run.branches) {
          const own = { id: branch.id, ancestors: [] }
          expect(await store.log.read(own, { from: 1, through: 99 })).toEqual([])
        }
      }), { share: 8 })
    }, longMs)
  })
}

class ModelRun {
  readonly branches: ModelBranch[] = [{ branch: aBranch(), rows: [], gone: false }]
  readonly #store: OpenStore
  readonly #ids = Array.from({ length: 6 }, () => randomUUID())
  #epoch = 1

  constructor(store: OpenStore) {
    this.#store = store
  }

  get living(): ModelBranch[] {
    return this.branches.filter(({ gone }) => !gone)
  }

  async do(operation: Operation): Promise<void> {
    const target = this.living[operation.at % this.living.length]
    if (!target) return
    if (operation.kind === 'append') return this.#append(target, operation)
    if (operation.kind === 'stray') return this.#stray(target, operation)
    if (operation.kind === 'purge') return this.#purge(target)
    return this.#copy(target, operation.through % (target.rows.length + 1))
  }

  async expectAgreement({ branch, rows }: ModelBranch,
    ranges: readonly { from: number; through: number; reverse: boolean;
      limit: number | undefined }[]): Promise<void> {
    const { log } = this.#store
    for (const range of [{ from: 1, through: 999, reverse: false, limit: undefined }, ...ranges]) {
      const expected = rows.filter(({ seq }) => seq >= range.from && seq <= range.through)
      if (range.reverse) expected.reverse()
      const read = await log.read(branch, range)
      expect(read.map(({ epoch, seq, body }) => [epoch, seq, bodyText(body)])).toEqual(expected
        .slice(0, range.limit).map(({ epoch, seq, body }) => [epoch, seq, bodyText(body)]))
    }
    const last = rows.at(-1)
    expect(await log.tail(branch)).toEqual(last && { epoch: last.epoch, seq: last.seq })
    for (const id of this.#ids) {
      const places = rows.flatMap((row) => row.places).filter((each) => each.id === id)
      expect(await log.findCheckpoint(branch, id)).toEqual(places.at(-1))
    }
  }

  /** Copies a branch; the owner of a copy writes a first row at once. */
  async #copy(source: ModelBranch, through: number): Promise<void> {
    const rows = source.rows.slice(0, through)
    const copy = { branch: copyOf(source.branch, through), rows, gone: false }
    await this.#append(copy, { kind: 'append', at: 0, count: 1, newEpoch: false, ids: [] })
    this.branches.push(copy)
  }

  async #append(target: ModelBranch,
    { count, newEpoch, ids }: Extract<Operation, { kind: 'append' }>): Promise<void> {
    if (newEpoch) this.#epoch++
    const rows: NewRow[] = []
    for (let index = 0; index < count; index++) {
      const seq = target.rows.length + rows.length + 1
      const prevEpoch = (rows.at(-1) ?? target.rows.at(-1))?.epoch ?? 0
      const places = ids.map((id, index): CheckpointPlace => ({ id: this.#ids[id]!, seq,
        base: index })
      )
      rows.push(aRow({ branch: target.branch, seq, epoch: this.#epoch, prevEpoch, places }))
    }
    await this.#store.log.append(rows, [])
    target.rows.push(...rows)
  }

  /** What a deposed owner might send; always refused. */
  async #stray({ branch, rows }: ModelBranch,
    { seqShift, epochShift }: Extract<Operation, { kind: 'stray' }>): Promise<void> {
    const last = rows.at(-1)
    if (!last || (seqShift === 0 && epochShift === 0)) return
    const row = aRow({ branch, seq: last.seq + 1 + seqShift, epoch: last.epoch + epochShift,
      prevEpoch: last.epoch })
    await expect(this.#store.log.append([row], [])).rejects.toMatchObject({ code: 'stale_append' })
  }

  async #purge(target: ModelBranch): Promise<void> {
    const { branch } = target
    await this.#store.log.purge({ table: 'thread', tenant: 'local', id: branch.id, branch,
      epoch: this.#epoch })
    target.gone = true
  }
}
