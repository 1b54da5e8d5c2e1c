/** The front door, where requests come in. */

export { openFrontDoor } from './front-door.ts'
export type { DeploymentParts, MemberProblem } from './control/index.ts'
export type { ClusterSource } from './admin/cluster-watch.ts'
export type { MemberDetails } from './admin/cluster-view.ts'
export type { LimitSource } from './admin/limit-report.ts'
export type { FrontDoor, FrontDoorOptions } from './front-door.ts'
export { addressReader, fromUserProxies } from './http/connections/client-address.ts'
export { fromProxies } from './http/connections/connection-quota.ts'
export type { Exchange } from './http/exchange.ts'
export type { AuthOptions } from './http/identify.ts'
export { deploymentGate, limitGate } from './http/limit-gate.ts'
export { runJson } from './http/render.ts'
export type { ThreadPlace } from './rest/thread-place.ts'
export { operationsOver } from './operations/index.ts'
export type { WebhookCheck } from './operations/index.ts'
export type { ControlDeployment, ControlLine, ControlMove, ControlOutcome, ControlReport,
  ControlRevision, ControlRollout, ControlSecret, ControlUpload } from './schema/control-answer.ts'
