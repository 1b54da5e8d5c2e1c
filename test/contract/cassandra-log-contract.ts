/** What only the log in Cassandra promises: owners that follow each other. */

import { randomUUID } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import type { Branch } from '../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../src/errors.ts'
import { AmbiguousSwap } from '../../src/store/cassandra/driver/connection.ts'
import type { Connection, Statement } from '../../src/store/cassandra/driver/connection.ts'
import type { CommitMode } from '../../src/store/cassandra/log/log-table.ts'
import type { CassandraForTests } from '../support/cassandra.ts'
import { repeats } from '../support/repeats.ts'
import { ownerOf, useLogHouse, watched } from './cassandra-log-house.ts'
import { aBranch, aRow, bodyText, copyOf } from './rows.ts'

const everything = { from: 1, through: Number.MAX_SAFE_INTEGER }

export function describeCassandraLog(cassandra: CassandraForTests): void {
  describe('the log in Cassandra', () => {
    const house = useLogHouse(cassandra)

    /** As a member sees it that has nothing of the branch in memory. */
    const history = async (branch: Branch, range = everything) =>
      (await house.handle().read(branch, range)).map(({ body }) => bodyText(body))
    const rows = (epoch: number, from: number, through: number) =>
      Array.from({ length: through - from + 1 }, (_, index) => `${epoch}/${from + index}`)

    describe('owners of older epochs', () => {
      it('are refused once a newer one has written', async () => {
        const branch = aBranch()
        const older = await ownerOf(house.handle(), branch, 1)
        await older.append(5)
        const newer = await ownerOf(house.handle(), branch, 2)
        await newer.append(1)
        await older.append(10)
        await newer.append(2)
        const expected = [...rows(1, 1, 5), ...rows(2, 6, 8)]
        expect(await history(branch)).toEqual(expected)
        await (await ownerOf(house.handle(), branch, 3)).append(2)
        expect(await history(branch)).toEqual([...expected, ...rows(3, 9, 10)])
        expect(await house.handle().tail(branch)).toEqual({ epoch: 3, seq: 10 })
      })

      it('leave no gap if the first of their rows was lost', async () => {
        const branch = aBranch()
        const late = watched(house.connection)
        const older = await ownerOf(house.handle({ connection: late.connection }), branch, 1)
        await older.append(3)
        late.hold()
        const lost = older.append(4)
        await expect.poll(() => late.asked().length).toBeGreaterThan(0)
        void late.release(1, 3)
        await expect.poll(async () =>
          (await house.connection.read({
            cql: `SELECT seq FROM ${house.connection.keyspace}.log
            WHERE branch_id = ? AND bucket = 0 AND epoch = 1`,
            values: [branch.id],
          })).length
        )
          .toBe(5)
        expect(await house.handle().tail(branch)).toEqual({ epoch: 1, seq: 3 })
        await (await ownerOf(house.handle(), branch, 2)).append(1)
        void lost
        expect(await history(branch)).toEqual([...rows(1, 1, 3), '2/4'])
      })

      it('are refused before they write by a member that knows the newer epoch', async () => {
        const branch = aBranch()
        const log = house.handle()
        const older = await ownerOf(log, branch, 1)
        await older.append(2)
        await (await ownerOf(log, branch, 2)).append(1)
        await expect(older.append(1)).rejects.toMatchObject({ code: 'stale_append' })
        await expect((await ownerOf(house.handle(), branch, 1)).append(1)).rejects
          .toMatchObject({ code: 'stale_append' })
        expect(await history(branch)).toEqual([...rows(1, 1, 2), '2/3'])
      })

      it('write at the same time as newer ones, and the result is one history', async () => {
        const branch = aBranch()
        const acknowledged: string[] = []
        let newest = 0
        /** Fences the previous owner, and then reads where the log ends. */
        const live = async (epoch: number) => {
          newest = epoch
          const log = house.handle()
          const acknowledge = (seq: number) => {
            // Like the ownership check, which no deposed owner passes.
            if (newest === epoch) acknowledged.push(`${epoch}/${seq}`)
          }
          let own = await ownerOf(log, branch, epoch)
          // Until none of the late rows comes in between.
          while (await own.append(1).then(() => false, () => true)) {
            own = await ownerOf(log, branch, epoch)
          }
          acknowledge((await log.tail(branch))!.seq)
          for (let round = 0; round < 12; round++) {
            const { seq } = (await log.tail(branch))!
            await own.append(1)
            acknowledge(seq + 1)
          }
        }
        await live(1)
        const lives = [live(2)]
        for (const epoch of [3, 4, 5]) {
          await expect.poll(() => acknowledged.some((text) => text.startsWith(`${epoch - 1}/`)))
            .toBe(true)
          lives.push(live(epoch))
        }
        await Promise.all(lives)
        const found = await history(branch)
        expect(found.filter((text) => acknowledged.includes(text))).toEqual(acknowledged)
        expect(found.map((text) => Number(text.split('/')[1])))
          .toEqual(found.map((_, index) => index + 1))
      })
    })

    describe('an owner that takes over', () => {
      it('reads the log right among rows that many earlier owners left behind', async () => {
        const branch = aBranch()
        const owners = []
        for (let epoch = 1; epoch <= 6; epoch++) {
          const next = await ownerOf(house.handle({ bucketBytes: 900 }), branch, epoch)
          await next.append(5)
          for (const older of owners) await older.append(2)
          owners.push(next)
        }
        expect(await history(branch)).toEqual(
          [1, 2, 3, 4, 5, 6].flatMap((epoch) => rows(epoch, 5 * epoch - 4, 5 * epoch)),
        )
      })
    })

    describe('one append', () => {
      it('is one mutation without a read, at any age of the branch', async () => {
        const branch = aBranch()
        const eyes = watched(house.connection)
        const log = house.handle({ connection: eyes.connection, bucketBytes: 4_000 })
        const own = await ownerOf(log, branch, 1)
        eyes.asked()
        await own.append(1)
        expect(eyes.asked()).toEqual(['write'])
        for (let row = 0; row < 100; row++) {
          await own.append(1, row % 2 === 0 ? [randomUUID(), randomUUID()] : [])
          // One row in eight carries the places of all.
          expect(eyes.asked()).toEqual([row % 8 === 6 ? 'batch' : 'write'])
        }
      })

      it('needs few reads if the branch is not in memory', async () => {
        const eyes = watched(house.connection)
        const log = house.handle({ connection: eyes.connection, branchesKept: 1 })
        const branches = [aBranch(), aBranch()]
        const owners = await Promise.all(branches.map((branch) => ownerOf(log, branch, 1)))
        for (let round = 0; round < 20; round++) {
          for (const own of owners) await own.append(1)
        }
        eyes.asked()
        await owners[0]!.append(1)
        expect(eyes.asked()).toEqual(['read', 'read', 'write'])
        await owners[0]!.append(1)
        expect(eyes.asked()).toEqual(['write'])
        expect(await history(branches[0]!)).toEqual(rows(1, 1, 22))
      })

      it('continues where another member left a branch that was given up here', async () => {
        const branch = aBranch()
        const [here, there] = [house.handle(), house.handle()]
        await (await ownerOf(here, branch, 1)).append(2)
        here.forget()
        await (await ownerOf(there, branch, 2)).append(2)
        expect(await here.tail(branch)).toEqual({ epoch: 2, seq: 4 })
        there.forget()
        await (await ownerOf(here, branch, 3)).append(1)
        expect(await history(branch)).toEqual([...rows(1, 1, 2), ...rows(2, 3, 4), '3/5'])
      })

      it('keeps a branch in memory that has rows under way', async () => {
        const log = house.handle({ branchesKept: 1 })
        const branches = Array.from({ length: 12 }, () => aBranch())
        const owners = await Promise.all(branches.map((branch) => ownerOf(log, branch, 1)))
        await Promise.all(Array.from({ length: 20 }, () => owners.map((own) => own.append(2)))
          .flat())
        for (const branch of branches) expect(await history(branch)).toEqual(rows(1, 1, 40))
      })

      it('waits its turn while its branch is looked up', async () => {
        const branch = aBranch()
        await (await ownerOf(house.handle(), branch, 1)).append(3)
        const log = house.handle()
        const own = await ownerOf(log, branch, 2)
        const appended = own.append(30)
        expect(await log.read(branch, { from: 33, through: 33 })).toHaveLength(1)
        await appended
        expect(await history(branch)).toEqual([...rows(1, 1, 3), ...rows(2, 4, 33)])
      })
    })

    describe('large values', () => {
      it('are read back byte for byte, and are deleted with their log', async () => {
        const branch = aBranch()
        const log = house.handle()
        const sizes = [256 * 1024, 256 * 1024 + 1, 1024 * 1024, 1024 * 1024 + 17]
        const bodies = sizes.map((size, index) => {
          const body = new Uint8Array(size)
          for (let at = 0; at < size; at++) body[at] = (at * (index + 7) + (at >> 9)) % 251
          return body
        })
        await Promise.all(
          bodies.map((body, index) => log.append([aRow({ branch, seq: index + 1, body })])),
        )
        const read = await house.handle().read(branch, everything)
        expect(read.map(({ body }, index) => Buffer.compare(body, bodies[index]!)))
          .toEqual([0, 0, 0, 0])
        expect(await chunksOf(branch)).toBe(1 + 2 + 3)
        await log.cut({ branchId: branch.id, after: 3, epoch: 2 })
        expect(await chunksOf(branch)).toBe(1 + 2)
        expect(await house.handle().read(branch, everything)).toHaveLength(3)
        await log.cut({ branchId: branch.id, after: 0, epoch: 2 })
        expect(await chunksOf(branch)).toBe(0)
      })

      const chunksOf = async (branch: Branch) => {
        const { keyspace } = house.connection
        const keys = await house.connection.read({
          cql: `SELECT row_key FROM ${keyspace}.log_chunk`,
          values: [],
        })
        return keys.filter(({ row_key: key }) => String(key).startsWith(branch.id)).length
      }
    })

    for (const commit of ['validate', 'lwt'] satisfies CommitMode[]) {
      describe(`buckets (${commit})`, () => {
        it('are left when they are full, and found without anything in memory', async () => {
          const branch = aBranch()
          const own = await ownerOf(house.handle({ commit, bucketBytes: 500 }), branch, 1)
          const count = repeats({ day: 24, night: 40 })
          const ids = Array.from({ length: count }, () => randomUUID())
          await Promise.all(ids.map((id) => own.append(1, [id])))
          expect(await history(branch)).toEqual(rows(1, 1, count))
          expect(await history(branch, { from: 17, through: 23 })).toEqual(rows(1, 17, 23))
          for (const at of [0, 1, 20, count - 1]) {
            const place = await house.handle().findCheckpoint(branch, ids[at]!)
            expect(place).toMatchObject({ seq: at + 1 })
          }
          expect(await house.handle().tail(branch)).toEqual({ epoch: 1, seq: count })
          for (let bucket = 0; bucket < count / 2; bucket++) {
            expect(await rowsIn(branch, bucket)).toBe(2)
          }
          expect(await rowsIn(branch, count / 2)).toBe(0)
        })

        it('are taken over in the middle, at their end, and one after the other', async () => {
          const branch = aBranch()
          const epochs = Array.from({ length: repeats({ day: 5, night: 9 }) }, (_, at) => at + 1)
          for (const epoch of epochs) {
            const own = await ownerOf(house.handle({ commit, bucketBytes: 300 }), branch, epoch)
            await own.append(epoch)
          }
          expect(await history(branch)).toEqual(
            epochs.flatMap((epoch) =>
              rows(epoch, epoch * (epoch - 1) / 2 + 1, epoch * (epoch + 1) / 2)
            ),
          )
        })

        it('are cut behind a fork point, and deleted completely, by any member', async () => {
          const branch = aBranch()
          const log = house.handle({ commit, bucketBytes: 300 })
          await (await ownerOf(log, branch, 1)).append(7)
          await (await ownerOf(log, branch, 2)).append(8)
          const copy = copyOf(branch, 9)
          expect(await history(copy)).toEqual([...rows(1, 1, 7), ...rows(2, 8, 9)])
          await log.cut({ branchId: branch.id, after: 9, epoch: 3 })
          await log.cut({ branchId: branch.id, after: 9, epoch: 1 })
          expect(await history(copy)).toEqual([...rows(1, 1, 7), ...rows(2, 8, 9)])
          expect(await log.tail(branch)).toEqual({ epoch: 2, seq: 9 })
          await house.handle().cut({ branchId: branch.id, after: 0, epoch: 1 })
          expect(await history(copy)).toEqual([])
          for (let bucket = 0; bucket < 9; bucket++) expect(await rowsIn(branch, bucket)).toBe(0)
        })

        const rowsIn = async (branch: Branch, bucket: number) =>
          (await house.connection.read({
            cql: `SELECT seq FROM ${house.connection.keyspace}.log
            WHERE branch_id = ? AND bucket = ? AND epoch >= 1`,
            values: [branch.id, bucket],
          })).length
      })
    }

    describe('a bucket that is full', () => {
      it('is never left by a deposed owner', async () => {
        const branch = aBranch()
        let deposed = false
        let passes = 0
        const check = { confirm: async () => {
          passes++
          if (deposed) throw new HeddleError('not_owner')
        } }
        const older = await ownerOf(house.handle({ check, bucketBytes: 400 }), branch, 1)
        await older.append(5)
        expect(passes).toBe(1)
        deposed = true
        const newer = await ownerOf(house.handle({ bucketBytes: 400 }), branch, 2)
        await newer.append(1)
        await expect(older.append(9)).rejects.toMatchObject({ code: 'not_owner' })
        await newer.append(4)
        expect(await history(branch)).toEqual([...rows(1, 1, 5), ...rows(2, 6, 10)])
      })

      it('may be followed by late rows, and the log still ends in it', async () => {
        const branch = aBranch()
        const late = watched(house.connection)
        const older = await ownerOf(
          house.handle({ connection: late.connection, bucketBytes: 400 }),
          branch,
          1,
        )
        await older.append(4)
        late.hold()
        const lost = older.append(2)
        await expect.poll(() => late.asked().length).toBeGreaterThan(0)
        const newer = await ownerOf(house.handle({ bucketBytes: 1_000 }), branch, 2)
        await newer.append(1)
        await late.release()
        await lost
        expect(await house.handle().tail(branch)).toEqual({ epoch: 2, seq: 5 })
        await newer.append(5)
        expect(await history(branch)).toEqual([...rows(1, 1, 4), ...rows(2, 5, 10)])
        await (await ownerOf(house.handle(), branch, 3)).append(1)
        expect(await history(branch)).toEqual([...rows(1, 1, 4), ...rows(2, 5, 10), '3/11'])
      })
    })

    describe('a compare-and-set per row', () => {
      const commit = 'lwt'

      it('refuses a deposed owner in the full bucket and in the next', async () => {
        for (const bucketBytes of [400, 10_000]) {
          const branch = aBranch()
          const older = await ownerOf(house.handle({ commit, bucketBytes }), branch, 1)
          await older.append(4)
          const newer = await ownerOf(house.handle({ commit, bucketBytes: 1_000 }), branch, 2)
          await newer.append(1)
          await expect(older.append(1)).rejects.toMatchObject({ code: 'stale_append' })
          await newer.append(8)
          expect(await history(branch)).toEqual([...rows(1, 1, 4), ...rows(2, 5, 13)])
        }
      })

      it('loses nothing that an older owner wrote to the next bucket just in time', async () => {
        const branch = aBranch()
        const older = await ownerOf(house.handle({ commit, bucketBytes: 400 }), branch, 1)
        await older.append(4)
        let taken = false
        const swap = async (statements: readonly Statement[]) => {
          const outcome = await house.connection.swap(statements)
          if (!taken) {
            taken = true
            await older.append(1)
          }
          return outcome
        }
        const connection = { ...watched(house.connection).connection, swap } as Connection
        const log = house.handle({ commit, connection, bucketBytes: 1_000 })
        await expect((await ownerOf(log, branch, 2)).append(1)).rejects
          .toMatchObject({ code: 'stale_append' })
        await (await ownerOf(log, branch, 2)).append(2)
        expect(await history(branch)).toEqual([...rows(1, 1, 5), ...rows(2, 6, 7)])
      })

      it('gives the log to one of many that open an epoch at once', async () => {
        const branch = aBranch()
        await (await ownerOf(house.handle({ commit }), branch, 1)).append(3)
        const owners = await Promise.all(
          [2, 3, 4, 5].map((epoch) => ownerOf(house.handle({ commit }), branch, epoch)),
        )
        const opened = await Promise.allSettled(owners.map((own) => own.append(3)))
        const found = await history(branch)
        expect(found.slice(0, 3)).toEqual(rows(1, 1, 3))
        const epochs = [2, 3, 4, 5].filter((_, at) => opened[at]!.status === 'fulfilled')
        expect(epochs.length).toBeGreaterThan(0)
        for (const epoch of epochs) {
          expect(found.filter((text) => text.startsWith(`${epoch}/`))).toHaveLength(3)
        }
      })

      it('finds out whether a row was written when its outcome was unknown', async () => {
        for (const isDone of [true, false]) {
          const branch = aBranch()
          let unprocessed = 0
          const swap = async (statements: readonly Statement[]) => {
            if (++unprocessed % 3 !== 0) return house.connection.swap(statements)
            if (isDone) await house.connection.swap(statements)
            throw new AmbiguousSwap(new Error('timed out'))
          }
          const env = { after: (_: number, fn: () => void) => {
            queueMicrotask(fn)
            return () => {}
          }, random: () => 0 }
          const connection = { ...watched(house.connection).connection, swap } as Connection
          for (const epoch of [1, 2]) {
            const log = house.handle({ commit, connection, env, bucketBytes: 500 })
            await (await ownerOf(log, branch, epoch)).append(7)
          }
          expect(await history(branch)).toEqual([...rows(1, 1, 7), ...rows(2, 8, 14)])
        }
      })
    })

    describe('a log that others forked from', () => {
      it('is read as of the fork point while its owners continue', async () => {
        const source = aBranch()
        const log = house.handle()
        const older = await ownerOf(log, source, 1)
        await older.append(4)
        const newer = await ownerOf(house.handle({ bucketBytes: 600 }), source, 2)
        await newer.append(4)
        await older.append(9)
        const copy = copyOf(source, 7)
        const expected = [...rows(1, 1, 4), ...rows(2, 5, 7)]
        const texts = async () =>
          (await log.read(copy, everything)).map(({ body }) => bodyText(body))
        expect(await texts()).toEqual(expected)
        await Promise.all([newer.append(20), texts(), texts()])
        expect(await texts()).toEqual(expected)
        await (await ownerOf(log, copy, 3)).append(2)
        expect(await texts()).toEqual([...expected, ...rows(3, 8, 9)])
        expect(await log.tail(copyOf(copy, 6))).toEqual({ epoch: 2, seq: 6 })
      })
    })

    describe('the close of a log', () => {
      it('resolves when everything requested before is written', async () => {
        const branch = aBranch()
        const log = house.handle()
        const own = await ownerOf(log, branch, 1)
        const appended = own.append(100)
        await log.close()
        await expect(own.append(1)).rejects.toMatchObject({ code: 'unavailable' })
        await appended
        expect(await history(branch)).toEqual(rows(1, 1, 100))
      })
    })
  })
}
