/** The Cassandra that tests run on: one given by the environment, or one started here. */

import { inject } from 'vitest'

import type { CassandraAnswer } from './cassandra-setup.ts'
import { givenCassandra } from './given-cassandra.ts'

/** Where Cassandra is. */
export interface CassandraForTests {
  readonly contactPoints: readonly string[]
  readonly dataCenter: string
}

/**
 * Finds or starts Cassandra. Undefined on a machine that cannot run it, which is then printed in
 * one line; throws instead if HEDDLE_REQUIRE_CASSANDRA is set. Call at the top of a file, because
 * the first call waits until the nodes are up.
 */
export async function cassandraForTests(): Promise<CassandraForTests | undefined> {
  if (givenCassandra !== undefined) return givenCassandra
  const response = await fetch(`${inject('cassandraDoor')}/${inject('cassandraNodes')}`)
  const answer = await response.json() as CassandraAnswer
  if ('broken' in answer) throw new Error(`Cassandra for tests: ${answer.broken}`)
  if (!('missing' in answer)) return answer
  if (process.env.HEDDLE_REQUIRE_CASSANDRA) throw new Error(answer.missing)
  return undefined
}
