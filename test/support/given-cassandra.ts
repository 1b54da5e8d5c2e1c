/** The Cassandra that the environment names for the tests, if it names one. */

import type { CassandraForTests } from './cassandra.ts'

const { HEDDLE_TEST_CONTACT_POINTS: contactPoints, HEDDLE_TEST_DATACENTER: dataCenter } =
  process.env

/** Undefined if the tests start their own. */
export const givenCassandra: CassandraForTests | undefined = contactPoints
  ? { contactPoints: contactPoints.split(','), dataCenter: dataCenter || 'datacenter1' }
  : undefined
