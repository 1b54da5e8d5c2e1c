/** Public entry point of the embedded store. */

export { openEmbeddedStore, openScratchStore } from './store.ts'
export type { EmbeddedStore, ScratchStore } from './store.ts'
export { embeddedSpans } from './platform/place.ts'
export { beginBackup } from './writer/backup.ts'
export type { BackupFile } from './writer/backup.ts'
export { beginRestore } from './writer/restore.ts'
export { oldestOfSteps, readSchema, supportedTables } from './writer/read-schema.ts'
export type { EncodedRow } from './requests/write.ts'
