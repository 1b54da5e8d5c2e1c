/** Places of checkpoints in Cassandra that several owners wrote, one after the other. */

import { randomUUID } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import type { Branch, CheckpointPlace } from '../../proto/gen/storage/v1/row.ts'
import type { Connection, Statement } from '../../src/store/cassandra/driver/connection.ts'
import type { CassandraForTests } from '../support/cassandra.ts'
import { isNight } from '../support/repeats.ts'
import { ownerOf, useLogHouse, watched } from './cassandra-log-house.ts'
import { aBranch, aRow, copyOf } from './rows.ts'

export function describeCassandraPlaces(cassandra: CassandraForTests): void {
  describe('places of checkpoints in Cassandra', () => {
    const house = useLogHouse(cassandra)

    /** As a member finds it that has nothing of the branch in memory. */
    const place = (branch: Branch, id: string): Promise<CheckpointPlace | undefined> =>
      house.handle().findCheckpoint(branch, id)
    /** Only the first statement of each batch arrives, as if one replica alone had the rest. */
    const torn = () =>
      ({ ...watched(house.connection).connection, batch: ([first]: readonly Statement[]) =>
        house.connection.write(first!) }) as unknown as Connection

    it('are not taken from deposed owners', async () => {
      const branch = aBranch()
      const [same, strange, kept] = [randomUUID(), randomUUID(), randomUUID()]
      const older = await ownerOf(house.handle(), branch, 1)
      await older.append(2, [kept])
      const newer = await ownerOf(house.handle(), branch, 2)
      await newer.append(1, [same])
      await older.append(1, [same])
      // With a place index row of its own.
      await older.append(6, [strange, kept])
      expect(await place(branch, same)).toEqual({ id: same, seq: 3, base: 2 })
      expect(await place(branch, strange)).toBeUndefined()
      expect(await place(branch, kept)).toEqual({ id: kept, seq: 2, base: 1 })
      await newer.append(8)
      expect(await place(branch, kept)).toEqual({ id: kept, seq: 2, base: 1 })
    })

    it('are not hidden by a deposed owner that is newer than who stated them', async () => {
      const branch = aBranch()
      const id = randomUUID()
      const late = watched(house.connection)
      const first = await ownerOf(house.handle(), branch, 1)
      await first.append(3)
      const second = await ownerOf(house.handle({ connection: late.connection }), branch, 2)
      late.hold()
      const lost = second.append(1, [id])
      await first.append(1, [id])
      const third = await ownerOf(house.handle(), branch, 3)
      await third.append(1)
      await late.release()
      await lost
      expect(await place(branch, id)).toEqual({ id, seq: 4, base: 1 })
      await third.append(5)
      expect(await place(branch, id)).toEqual({ id, seq: 4, base: 1 })
    })

    it('are kept for the next owner, wherever an owner stops', async () => {
      const branch = aBranch()
      const ids: string[] = []
      for (let epoch = 1; epoch <= 12; epoch++) {
        const own = await ownerOf(house.handle(), branch, epoch)
        const id = randomUUID()
        await own.append(1, [id])
        await own.append(epoch % 4)
        ids.push(id)
        const copy = copyOf(branch, (await own.log.tail(branch))!.seq)
        await own.append(epoch % 3)
        const places = (wanted: readonly string[]) =>
          Promise.all([branch, copy].flatMap((from) => wanted.map((one) => place(from, one))))
        const bases = ids.map((_, at) => at + 1)
        // All of them by night: each is read by a member with nothing in memory.
        const from = isNight || epoch === 12 ? 0 : epoch - 1
        expect((await places(ids.slice(from))).map((one) => one?.base))
          .toEqual([...bases.slice(from), ...bases.slice(from)])
      }
    })

    describe.each(['validate', 'lwt'] as const)('(%s)', (commit) => {
      it('are the newest, whatever carries them', async () => {
        const branch = aBranch()
        const id = randomUUID()
        const log = house.handle({ commit, bucketBytes: 5_000 })
        const others = Array.from({ length: 65 }, () => ({ id: randomUUID(), seq: 0, base: 0 }))
        for (let seq = 1; seq <= 17; seq++) {
          const again = [{ id, seq: 0, base: 0 }, ...others]
          const places = seq === 9 ? [{ id, seq, base: 1 }] : seq === 10 ? again : []
          await log.append([aRow({ branch, seq, places })])
          if (seq >= 10) expect(await place(branch, id)).toEqual({ id, seq: 0, base: 0 })
        }
      })

      it('are written again if perhaps only one replica has them', async () => {
        const branch = aBranch()
        const id = randomUUID()
        const older = await ownerOf(house.handle({ connection: torn() }), branch, 1)
        await older.append(6)
        await older.append(1, [id])
        // The one that carries it.
        await older.append(1)
        expect(await place(branch, id)).toBeUndefined()
        await (await ownerOf(house.handle({ commit }), branch, 2)).append(1)
        expect(await place(branch, id)).toEqual({ id, seq: 7, base: 1 })
      })
    })
  })
}
