/** The control API, which deploys, switches and watches deployments. */

export { addControl } from './app.ts'
export type { DeploymentParts, MemberProblem } from './parts.ts'
