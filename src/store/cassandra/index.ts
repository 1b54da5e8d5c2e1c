/** The door of the Cassandra store. */

export { openCassandraStore, openOperatorTables } from './store.ts'
export type { CassandraStore, OperatorTables, ServedStore } from './store.ts'
export { cassandraSpans } from './platform/open.ts'
