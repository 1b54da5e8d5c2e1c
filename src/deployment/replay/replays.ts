/** Replays of the recorded runs of deployments. */

import type { Deployment } from '../deployment.ts'
import type { Replay, ReplayRequest, ReplayView, RunVerdict } from './replay-record.ts'

/** Replays of all deployments, of every owner. All methods throw HeddleError. */
export interface Replays {
  /** Begins one. `busy` if one of the deployment is under way, `not_found` for the revision. */
  start(deployment: Deployment, request: ReplayRequest, by: string): Promise<Replay>
  /** The newest first. */
  list(deployment: Deployment): Promise<readonly Replay[]>
  /** Goes on with it if its member has died. `not_found`. */
  get(deployment: Deployment, id: string): Promise<ReplayView>
  /** Verdicts on its runs, in the order of their ids. */
  verdicts(deployment: Deployment, id: string): Promise<readonly RunVerdict[]>
  /** Ends it. Does nothing if it has ended. `not_found`. */
  cancel(deployment: Deployment, id: string): Promise<Replay>
}
