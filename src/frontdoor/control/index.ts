/** The control API. */

export { addControl } from './app.ts'
export type { DeploymentParts } from './parts.ts'
