/** Both ways to write the log to Cassandra make the same history from the same operations. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Branch } from '../../proto/gen/storage/v1/row.ts'
import type { HeddleError } from '../../src/errors.ts'
import type { CommitMode, LogTable } from '../../src/store/cassandra/log/log-table.ts'
import type { CassandraForTests } from '../support/cassandra.ts'
import { repeats } from '../support/repeats.ts'
import { useLogHouse } from './cassandra-log-house.ts'
import type { LogHouse } from './cassandra-log-house.ts'
import { aBranch, aRow, bodyText, copyOf, textBody } from './rows.ts'

type Operation =
  | { readonly kind: 'append'; readonly at: number; readonly count: number;
    readonly ids: readonly number[]; readonly bytes: number }
  | { readonly kind: 'take over'; readonly at: number; readonly member: number }
  /** A previous owner goes on writing. */
  | { readonly kind: 'stray'; readonly at: number; readonly before: number; readonly count: number;
    readonly ids: readonly number[] }
  | { readonly kind: 'copy'; readonly at: number; readonly through: number;
    readonly member: number }
  /** A member loses its memory. */
  | { readonly kind: 'forget'; readonly member: number }
  | { readonly kind: 'delete'; readonly at: number }

const ids = fc.array(fc.nat(5), { maxLength: 2 })
const members = 3

const sequences: fc.Arbitrary<Operation[]> = fc.array(fc.oneof(
  { weight: 6,
    arbitrary: fc.record({ kind: fc.constant('append' as const), at: fc.nat(),
      count: fc.integer({ min: 1, max: 5 }), ids, bytes: fc.nat(300) }) },
  { weight: 3,
    arbitrary: fc.record({ kind: fc.constant('take over' as const), at: fc.nat(),
      member: fc.nat(members - 1) }) },
  { weight: 2,
    arbitrary: fc.record({ kind: fc.constant('stray' as const), at: fc.nat(), before: fc.nat(2),
      count: fc.integer({ min: 1, max: 3 }), ids }) },
  { weight: 1,
    arbitrary: fc.record({ kind: fc.constant('copy' as const), at: fc.nat(), through: fc.nat(),
      member: fc.nat(members - 1) }) },
  { weight: 1,
    arbitrary: fc.record({ kind: fc.constant('forget' as const), member: fc.nat(members - 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), at: fc.nat() }) },
), { minLength: 5, maxLength: 25 })

/** A few rows with places fill a bucket. */
const bucketBytes = 1_000
const atOnce = 8

/**
 * No sequence begins later, but the first ones. A slow machine needs a quarter of an hour for a
 * thousand.
 */
const withinMs = repeats({ day: 12_000, night: 900_000 })
const least = 20

export function describeCommitModes(cassandra: CassandraForTests, count: number): void {
  describe('the log with a compare-and-set per row', () => {
    const house = useLogHouse(cassandra)

    it(`has the same history as with plain writes, in ${count} sequences`, async () => {
      const wanted = fc.sample(sequences, { numRuns: count, seed: 4 })
      const end = performance.now() + withinMs
      let done = 0
      const mayBegin = () => done < least || performance.now() < end
      const lane = async () => {
        for (let next = wanted.pop(); next && mayBegin(); next = wanted.pop()) {
          const [validate, lwt] = await Promise.all(
            (['validate', 'lwt'] as const).map((mode) => new ModeRun(house, mode).all(next!)),
          )
          expect(lwt, JSON.stringify(next)).toEqual(validate)
          done += 1
        }
      }
      await Promise.all(Array.from({ length: atOnce }, lane))
      console.log(`${done} of ${count} sequences`)
      expect(done).toBeGreaterThanOrEqual(Math.min(count, least))
    })

    it('continues if a member of the other mode takes over', async () => {
      const branch = aBranch()
      const modes: CommitMode[] = ['validate', 'lwt', 'lwt', 'validate', 'lwt', 'validate']
      let seq = 0
      for (const [before, commit] of modes.entries()) {
        const epoch = before + 1
        const handle = house.handle({ commit, bucketBytes })
        for (let row = 0; row < 5; row++) {
          const prevEpoch = row === 0 ? before : epoch
          await handle.append([
            aRow({ branch, epoch, prevEpoch, seq: ++seq, body: textBody(`${seq}`.padEnd(300)) }),
          ])
        }
      }
      const rows = await house.handle().read(branch, { from: 1, through: Number.MAX_SAFE_INTEGER })
      expect(rows.map(({ body }) => Number(bodyText(body))))
        .toEqual(Array.from({ length: seq }, (_, index) => index + 1))
    })
  })
}

interface Writer {
  readonly member: number
  readonly epoch: number
  tip: { readonly epoch: number; readonly seq: number }
}

interface Batch {
  readonly writer: Writer
  readonly count: number
  readonly ids: readonly number[]
  readonly bytes: number
}

interface Life {
  readonly branch: Branch
  /** The last one is the owner. */
  readonly writers: Writer[]
  /** What was acknowledged, including that of ancestors. */
  readonly texts: string[]
  readonly places: Map<string, number>[]
  copied: boolean
}

class ModeRun {
  readonly #house: LogHouse
  readonly #mode: CommitMode
  readonly #members: LogTable[]
  readonly #lives: Life[] = []
  #epoch = 0
  #operations = 0

  constructor(house: LogHouse, mode: CommitMode) {
    this.#house = house
    this.#mode = mode
    this.#members = Array.from({ length: members }, () => this.#newMember())
  }

  /** Runs them in sequence; checks what is found at the end, and returns it. */
  async all(operations: readonly Operation[]): Promise<unknown> {
    await this.#begin(aBranch(), { member: 0, texts: [], places: [] })
    for (const operation of operations) await this.#do(operation)
    const reader = this.#newMember()
    return await Promise.all(this.#lives.map(async ({ branch, texts, places }) => {
      const rows = await reader.read(branch, { from: 1, through: Number.MAX_SAFE_INTEGER })
      const found = rows.map(({ epoch, seq, body }) => `${epoch}/${seq} ${bodyText(body)}`)
      expect(found.map((text) => text.trimEnd())).toEqual(texts)
      expect((await reader.tail(branch))?.seq).toBe(texts.length)
      for (let id = 0; id < 6; id++) {
        const place = await reader.findCheckpoint(branch, `${id}`)
        expect(place?.seq).toBe(places.findLast((each) => each.has(`${id}`))?.get(`${id}`))
      }
      return found
    }))
  }

  async #do(operation: Operation): Promise<void> {
    this.#operations++
    if (operation.kind === 'forget') {
      this.#members[operation.member] = this.#newMember()
      return
    }
    const life = this.#lives[operation.at % this.#lives.length]
    if (!life) return
    const owner = life.writers.at(-1)!
    switch (operation.kind) {
      case 'append': {
        const { count, ids, bytes } = operation
        return this.#acknowledged(life, { writer: owner, count, ids, bytes })
      }
      case 'take over':
        return this.#takeOver(life, operation.member)
      case 'stray': {
        const writer = life.writers.at(-2 - operation.before)
        return writer && this.#stray(life, writer, operation)
      }
      case 'copy':
        return this.#copy(life, operation)
      case 'delete':
        return this.#delete(life)
    }
  }

  async #begin(branch: Branch,
    { member, texts, places }: { member: number; texts: string[];
      places: Map<string, number>[] }): Promise<void> {
    const life: Life = { branch, writers: [], texts, places, copied: false }
    this.#lives.push(life)
    await this.#takeOver(life, member)
  }

  /**
   * An owner opens its epoch at once, so that late rows of others stay outside. A member that still
   * remembers the branch from an earlier epoch of its own is refused, and knows better then.
   */
  async #takeOver(life: Life, member: number): Promise<void> {
    const epoch = ++this.#epoch
    const open = async () => {
      const tip = await this.#members[member]!.tail(life.branch) ?? { epoch: 0, seq: 0 }
      const writer = { member, epoch, tip }
      await this.#acknowledged(life, { writer, count: 1, ids: [], bytes: 0 })
      life.writers.push(writer)
    }
    const known = life.writers.some((writer) => writer.member === member)
    await open().catch((error: HeddleError) => {
      if (!known || error.code !== 'stale_append') throw error
      return open()
    })
  }

  async #acknowledged(life: Life, rows: Batch): Promise<void> {
    for (const { epoch, seq, text, places } of await this.#append(life, rows)) {
      life.texts.push(`${epoch}/${seq} ${text}`)
      life.places.push(new Map(places.map((place) => [place.id, place.seq])))
    }
  }

  /** Writes as a previous owner: it is refused or has no effect. */
  async #stray(life: Life, writer: Writer,
    { count, ids }: Extract<Operation, { kind: 'stray' }>): Promise<void> {
    const { tip } = writer
    const refused = await this.#append(life, { writer, count, ids, bytes: 0 }).then(() => false,
      () => true)
    if (refused) writer.tip = tip
    if (this.#mode === 'lwt') expect(refused).toBe(true)
  }

  async #copy(life: Life,
    { through, member }: Extract<Operation, { kind: 'copy' }>): Promise<void> {
    const length = 1 + through % life.texts.length
    life.copied = true
    await this.#begin(copyOf(life.branch, length), { member, texts: life.texts.slice(0, length),
      places: life.places.slice(0, length) })
  }

  async #delete(life: Life): Promise<void> {
    if (life.copied) return
    this.#lives.splice(this.#lives.indexOf(life), 1)
    const { member } = life.writers.at(-1)!
    await this.#members[member]!.cut({ branchId: life.branch.id, after: 0, epoch: ++this.#epoch })
    const own = { id: life.branch.id, ancestors: [] }
    expect(await this.#newMember().read(own, { from: 1, through: 999 })).toEqual([])
  }

  async #append({ branch }: Life, { writer, count, ids, bytes }: Batch) {
    const { epoch } = writer
    const rows = Array.from({ length: count }, (_, index) => {
      const { epoch: prevEpoch, seq: before } = writer.tip
      const seq = before + 1
      writer.tip = { epoch, seq }
      const text = `operation ${this.#operations}, row ${index}`
      const places = ids.map((id) => ({ id: `${id}`, seq, base: 1 }))
      const body = textBody(text.padEnd(bytes))
      return { text, epoch, seq, places,
        row: aRow({ branch, epoch, seq, prevEpoch, places, body }) }
    })
    const log = this.#members[writer.member]!
    await Promise.all(rows.map(({ row }) => log.append([row])))
    return rows
  }

  #newMember(): LogTable {
    return this.#house.handle({ commit: this.#mode, bucketBytes })
  }
}
