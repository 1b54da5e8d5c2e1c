/** The store in Cassandra keeps every promise of the ports. */

import { afterAll, describe } from 'vitest'

import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { isNight, repeats } from '../support/repeats.ts'
import { describeAssistantIndex } from './assistant-index-contract.ts'
import { describeBillingTable } from './billing-table-contract.ts'
import { cassandraPlace } from './cassandra-place.ts'
import { describeCronIndex } from './cron-index-contract.ts'
import { describeItemIndex } from './item-index-contract.ts'
import { describeKeyTable } from './key-table-contract.ts'
import { describeLimitTable } from './limit-table-contract.ts'
import { describeLog } from './log-contract.ts'
import { describeLogModel } from './log-model-contract.ts'
import { describePurge } from './purge-contract.ts'
import { describeRunTable } from './run-table-contract.ts'
import { sharePlace } from './store-place.ts'
import { describeTenantUse } from './tenant-use-contract.ts'
import { describeThreadIndex } from './thread-index-contract.ts'

const cassandra = await cassandraForTests()

describe.skipIf(!cassandra)('on Cassandra', () => {
  const place = () => cassandraPlace(cassandra!)
  // What is due is found in a whole keyspace.
  const own: CassandraKeyspace[] = []
  const ownPlace = () => {
    own.push(newKeyspace(cassandra!))
    return cassandraPlace(cassandra!, own.at(-1)!)
  }
  afterAll(() => Promise.all(own.map(dropKeyspace)))
  const shared = sharePlace(place)
  describeLog('Cassandra', shared)
  describeLogModel('Cassandra', shared)
  describePurge('Cassandra', place)
  // Members search in a file, as the embedded store does.
  describeThreadIndex('Cassandra', shared, repeats({ day: 600, night: 3_000 }))
  describeRunTable('Cassandra', shared)
  describeKeyTable('Cassandra', shared)
  describeLimitTable('Cassandra', shared)
  describeBillingTable('Cassandra', shared)
  describeAssistantIndex('Cassandra', shared)
  describeItemIndex('Cassandra', shared)
  // Each makes tables of its own, which takes longer than all of the others.
  if (isNight) {
    describeTenantUse('Cassandra', ownPlace)
    describeCronIndex('Cassandra', ownPlace)
  }
})
