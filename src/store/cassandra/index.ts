/** The door of the Cassandra store. */

export { openCassandraStore, openOperatorTables } from './store.ts'
export type { OperatorTables } from './store.ts'
export type { CassandraStore, ServedStore } from './store.ts'
