/** The door of the Cassandra store. */

export { openCassandraStore, openOperatorTables } from './store.ts'
export type { CassandraStore, OperatorTables, ServedStore } from './store.ts'
export { openControlTables } from './cluster/control-tables.ts'
export type { ControlTables } from './cluster/control-tables.ts'
export { supportedTables } from './schema/migration.ts'
export { oldestOfSteps, readKeyspaces } from './cluster/operator-reading.ts'
export { cassandraSpans } from './platform/place.ts'
