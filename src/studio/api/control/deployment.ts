/** Deployments and their roll-outs as the control API has them. Times are ISO texts. */

import type { ControlDeployment, ControlLine, ControlMember, ControlOutcome, ControlReport,
  ControlRevision, ControlRollout, ControlSecret } from '../../../api/index.ts'

/** Progress of a member in a roll-out. */
export type MemberProgress = ControlMember

/** A roll-out that is under way. */
export type Rollout = ControlRollout

/** A roll-out that has ended. */
export type Outcome = ControlOutcome

/** A deployment, as the control API answers it. */
export type Deployment = ControlDeployment

/** A revision of a deployment. */
export type Revision = ControlRevision

/** Changes of a revision against the active one. */
export type Report = ControlReport

/** Something that happened to a deployment. What else it has depends on its kind. */
export interface DeploymentEvent {
  readonly seq: number
  readonly at: string
  readonly by: string
  readonly kind: string
  readonly [field: string]: unknown
}

/** A line that the code of a deployment wrote. */
export type LogLine = ControlLine

/** A secret without its value. */
export type Secret = ControlSecret
