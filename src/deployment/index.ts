/** Deployments: revisions of several projects in one cluster, rolled out and served. */

export { reportOf } from './compatibility.ts'
export type { CompatibilityParts, CompatibilityReport, ReportRevision,
  WaitingThreads } from './compatibility.ts'
export type { Deployment, DeploymentAccess, DeploymentChange, DeploymentLimits,
  Preview } from './deployment.ts'
export { defaultDeploymentLimits } from './deployment.ts'
export type { DeploymentEvent, DeploymentEventKind, NewEvent } from './deployment-event.ts'
export type { BegunRevision, Deployments, DeploymentSecret, DeploymentSecrets, NewDeployment,
  NewRevision } from './deployments.ts'
export { deploymentsTenant, isDeploymentName, namespaceOf, namespaceParts } from './namespace.ts'
export type { NamespaceParts } from './namespace.ts'
export type { DeploymentsLimits } from './records/beginning.ts'
export { deploymentSecretsOver } from './records/deployment-secrets.ts'
export { deploymentsOver } from './records/deployments-over.ts'
export type { DeploymentsParts } from './records/deployments-over.ts'
export { driveRollouts } from './rollout/rollout-driver.ts'
export type { RolloutDriver, RolloutDriverParts } from './rollout/rollout-driver.ts'
export { rolloutsOver } from './rollout/rollouts.ts'
export type { Activated, Rollouts, RolloutsParts, RolloutWish } from './rollout/rollouts.ts'
export type { CountRevisionUse, RevisionUse } from './revision-use.ts'
export type { GraphFailure, Revision, RevisionChange, RevisionState } from './revision.ts'
export type { Prepared, PrepareWish, RevisionTally, RolloutMembers } from './rollout/member-port.ts'
export type { MemberProgress, MemberState, Rollout, RolloutKind, RolloutOutcome, RolloutPhase,
  RolloutResult } from './rollout/rollout.ts'
export type { DeploymentLine, LineQuery } from './serving/deployment-lines.ts'
export { openServing } from './serving/open-serving.ts'
export type { ServingOptions } from './serving/open-serving.ts'
export type { LoadedRevision, LoadState, Serving, ServingStats } from './serving/serving.ts'
export type { DeploymentLogs, MergedLineQuery } from './serving/deployment-logs.ts'
