/** The door of the embedded store. */

export { openEmbeddedStore } from './store.ts'
export type { EmbeddedStore } from './store.ts'
