/** Public entry point of the embedded store. */

export { backUp } from './backup.ts'
export { openEmbeddedStore, openScratchStore } from './store.ts'
export type { EmbeddedStore, ScratchStore } from './store.ts'
export type { EncodedRow } from './write.ts'
