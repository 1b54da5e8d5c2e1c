/** The long crash test on Cassandra: kills at random moments. */

import { afterAll, describe, it } from 'vitest'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { repeats } from '../../support/repeats.ts'
import { crashRounds } from '../crash/rounds.ts'

const cassandra = await cassandraForTests()
const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)
const kills = repeats({ day: 2, night: 8 })

describe.skipIf(!cassandra)('a server on Cassandra', () => {
  const place = newKeyspace(cassandra!)
  afterAll(() => dropKeyspace(place), 120_000)

  it(`loses no acknowledged write by ${kills} kills (HEDDLE_SEED=${seed})`, async () => {
    await crashRounds({ kills, seed, cassandra: place })
  }, 2_700_000)
})
