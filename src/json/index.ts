/** JSON from clients: how it is looked through, parsed, and kept off the main thread if long. */

export { longJson, readLongJson } from './long-json.ts'
export type { LongJson } from './long-json.ts'
export { parsed } from './parsed.ts'
export { mustBeModest, mustBeShallow } from './scan.ts'
export { pick } from './pick.ts'
export type { Carried } from './split.ts'
