/** The front door, where requests come in. */

export { openFrontDoor } from './front-door.ts'
export type { FrontDoor, FrontDoorOptions } from './front-door.ts'
export { runJson } from './rest/render.ts'
