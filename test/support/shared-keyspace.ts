/** The keyspace that test files share. */

import { inject } from 'vitest'

import type { CassandraKeyspace } from './cassandra-keyspace.ts'
import type { CassandraForTests } from './cassandra.ts'

/**
 * The keyspace of tests that have tenants and logs of their own, in all files: making the tables
 * takes longer than most of them. The first user creates it; it ends with the run.
 */
export function sharedKeyspace(cassandra: CassandraForTests): CassandraKeyspace {
  return { ...cassandra, keyspace: inject('sharedKeyspace') }
}
