/** The front door, where requests come in. */

export { openFrontDoor } from './front-door.ts'
export type { FrontDoor, FrontDoorOptions } from './front-door.ts'
export { addressReader, fromUserProxies } from './http/client-address.ts'
export { fromProxies } from './http/connection-quota.ts'
export type { Exchange } from './http/exchange.ts'
export type { AuthOptions } from './http/identify.ts'
export { limitGate } from './http/limit-gate.ts'
export { runJson } from './http/render.ts'
export { operationsOver } from './operations/index.ts'
