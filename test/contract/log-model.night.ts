/** The log of both stores against its model, with the repeats of a night. */

import { describe } from 'vitest'

import { cassandraForTests } from '../support/cassandra.ts'
import { cassandraPlace } from './cassandra-place.ts'
import { embeddedPlace } from './embedded-place.ts'
import { describeLogModel } from './log-model-contract.ts'

const cassandra = await cassandraForTests()

describeLogModel('embedded', embeddedPlace)
describe.skipIf(!cassandra)('on Cassandra', () => {
  describeLogModel('Cassandra', () => cassandraPlace(cassandra!))
})
