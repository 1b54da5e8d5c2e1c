/** Where checkpoints are in a Cassandra that several owners, one after the other, wrote to. */

import { randomUUID } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import type { Branch, CheckpointPlace } from '../../proto/gen/storage/v1/row.ts'
import { Rank } from '../../src/store/cassandra/rank.ts'
import type { CassandraForTests } from '../support/cassandra.ts'
import { ownerOf, useLogHouse, watched } from './cassandra-log-house.ts'
import { aBranch, copyOf } from './rows.ts'

export function describeCassandraPlaces(cassandra: CassandraForTests): void {
  describe('places of checkpoints in Cassandra', () => {
    const house = useLogHouse(cassandra)

    /** As somebody finds it who has never heard of the branch. */
    const place = (branch: Branch, id: string): Promise<CheckpointPlace | undefined> =>
      house.handle().findCheckpoint(branch, id)

    it('are not for deposed owners to say', async () => {
      const branch = aBranch()
      const [same, strange, kept] = [randomUUID(), randomUUID(), randomUUID()]
      const older = await ownerOf(house.handle(), branch, 1)
      await older.append(2, [kept])
      const newer = await ownerOf(house.handle(), branch, 2)
      await newer.append(1, [same])
      await older.append(1, [same])
      // With a carrier of its own.
      await older.append(6, [strange, kept])
      expect(await place(branch, same)).toEqual({ id: same, seq: 3, base: 2 })
      expect(await place(branch, strange)).toBeUndefined()
      expect(await place(branch, kept)).toEqual({ id: kept, seq: 2, base: 1 })
      await newer.append(8)
      expect(await place(branch, kept)).toEqual({ id: kept, seq: 2, base: 1 })
    })

    it('are hidden by no deposed owner, even by one newer than who stated them', async () => {
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

    it('are left to whoever follows, wherever an owner stops', async () => {
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
        for (const [at, each] of ids.entries()) {
          const found = await Promise.all([branch, copy].map((from) => place(from, each)))
          expect(found.map((one) => one?.base)).toEqual([at + 1, at + 1])
        }
      }
    })

    it('are written again where perhaps one replica alone has them', async () => {
      const branch = aBranch()
      const id = randomUUID()
      const rank = new Rank()
      const older = await ownerOf(house.handle({ rank }), branch, 1)
      await older.append(6)
      await older.append(1, [id])
      // The one that carries it.
      await older.append(1)
      await house.connection.write({
        cql: `DELETE FROM ${house.connection.keyspace}.log USING TIMESTAMP ?
          WHERE branch_id = ? AND bucket = 0 AND epoch = 0`, values: [rank.next(1), branch.id] })
      expect(await place(branch, id)).toBeUndefined()
      await (await ownerOf(house.handle({ rank }), branch, 2)).append(1)
      expect(await place(branch, id)).toEqual({ id, seq: 7, base: 1 })
    })
  })
}
