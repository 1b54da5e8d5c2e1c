/** The control API. */

export { addControl } from './app.ts'
export type { DeploymentParts, MemberProblem } from './parts.ts'
