/** The last lines of a deployment on all members. */

import type { DeploymentLine, LineQuery } from './deployment-lines.ts'

/** Which lines of all members are asked for. */
export interface MergedLineQuery extends Omit<LineQuery, 'after'> {
  /** The number of the last line that was seen of members; `sinceMs` is for all others. */
  readonly after?: ReadonlyMap<string, number>
}

/** Asks every member. */
export interface DeploymentLogs {
  /** In order of time. Lines of members that do not answer are left out. */
  lines(deployment: string, query: MergedLineQuery): Promise<readonly DeploymentLine[]>
}
