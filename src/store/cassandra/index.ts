/** The door of the Cassandra store. */

export { openCassandraStore, openKeyTable } from './store.ts'
export type { CassandraStore, CassandraStoreOptions, ServedStore, ShardIndex } from './store.ts'
