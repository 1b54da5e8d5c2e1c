/** An owner that opens a branch in Cassandra: what it knows then, and which owners are refused. */

import { describe, expect, it } from 'vitest'

import { cassandraForTests } from '../support/cassandra.ts'
import { useLogHouse, watched } from './cassandra-log-house.ts'
import { aBranch, aRow, bodyText, textBody } from './rows.ts'

const everything = { from: 1, through: Number.MAX_SAFE_INTEGER }
const cassandra = await cassandraForTests()

describe.skipIf(!cassandra)('an owner that opens a branch', () => {
  const house = useLogHouse(cassandra!)

  it('reads once where the branch ends, and knows its newest rows from that', async () => {
    const branch = aBranch()
    const row = (epoch: number, seq: number, prevEpoch: number) =>
      aRow({ branch, epoch, seq, prevEpoch, body: textBody(`${epoch}/${seq}`) })
    const older = house.handle()
    await older.append([row(1, 1, 0), row(1, 2, 1), row(1, 3, 1)])
    const eyes = watched(house.connection)
    const newer = house.handle({ connection: eyes.connection })
    await newer.open(branch, 2)
    expect(eyes.asked()).toEqual(['read', 'read'])

    // Rows that come too late are ignored.
    await older.append([row(1, 4, 1), row(1, 5, 1)])
    expect(await newer.tail(branch)).toEqual({ epoch: 1, seq: 3 })
    expect(await newer.read(branch, everything)).toHaveLength(3)
    await newer.append([row(2, 4, 1)])
    expect(eyes.asked()).toEqual(['write'])
    const rows = await house.handle().read(branch, everything)
    expect(rows.map(({ body }) => bodyText(body))).toEqual(['1/1', '1/2', '1/3', '2/4'])
  })

  it('deposes every older owner, even before it has written', async () => {
    const branch = aBranch()
    const lwt = { commit: 'lwt' } as const
    const row = (epoch: number, seq: number, prevEpoch: number) =>
      aRow({ branch, epoch, seq, prevEpoch, body: textBody(`${epoch}/${seq}`) })
    const [older, newer] = [house.handle(lwt), house.handle(lwt)]
    await older.append([row(1, 1, 0)])
    await newer.open(branch, 2)
    await expect(older.append([row(1, 2, 1)])).rejects.toMatchObject({ code: 'stale_append' })
    // Once more, by a member with nothing in memory.
    const again = house.handle(lwt)
    await again.open(branch, 2)
    await again.append([row(2, 2, 1)])
    const rows = await house.handle(lwt).read(branch, everything)
    expect(rows.map(({ body }) => bodyText(body))).toEqual(['1/1', '2/2'])
  })

  it('is refused if a newer one has written, whichever member knows of that', async () => {
    const branch = aBranch()
    const newer = house.handle()
    await newer.append([aRow({ branch, epoch: 2, seq: 1, prevEpoch: 0, body: textBody('2/1') })])
    for (const log of [newer, house.handle()]) {
      await expect(log.open(branch, 1)).rejects.toMatchObject({ code: 'stale_append' })
      await log.open(branch, 2)
    }
  })

  it('learns that the branch is being purged, however much of it is left', async () => {
    const branch = aBranch()
    await house.handle().append([aRow({ branch, epoch: 1, seq: 1, body: textBody('1/1') })])
    const log = house.handle({ isDead: async (id) => id === branch.id })
    await expect(log.open(branch, 2)).rejects
      .toMatchObject({ code: 'stale_append', details: { dead: true } })
  })
})
