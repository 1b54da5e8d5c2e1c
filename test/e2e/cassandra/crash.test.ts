/** The crash test on one node of Cassandra: what was acknowledged outlives the server. */

import { afterAll, describe, it } from 'vitest'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { crashRounds } from '../crash/rounds.ts'

const cassandra = await cassandraForTests()

describe.skipIf(!cassandra)('a server on Cassandra', () => {
  const place = newKeyspace(cassandra!)
  afterAll(() => dropKeyspace(place))

  it('loses no acknowledged write by three kills, and leaves no thread busy', async () => {
    await crashRounds({ kills: 3, seed: 1, cassandra: place })
  }, 240_000)
})
