/** The front door, where requests come in. */

export { openFrontDoor } from './front-door.ts'
export type { FrontDoor, FrontDoorOptions } from './front-door.ts'
export type { Exchange } from './exchange.ts'
export { addressReader, fromUserProxies } from './client-address.ts'
export { LimitBook } from './limits/limit-book.ts'
export { limitGate } from './limits/limit-gate.ts'
export { readLimitOverrides } from './limits/overrides.ts'
export { limitRows } from './limits/table.ts'
export type { LimitRow } from './limits/table.ts'
export type { AuthOptions } from './identify.ts'
export type { KeyStats } from './key-book.ts'
export { runJson } from './rest/render.ts'
