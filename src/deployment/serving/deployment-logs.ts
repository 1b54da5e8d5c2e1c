/** The last lines of a deployment on all members. */

import type { DeploymentLine, LineQuery } from './deployment-lines.ts'

/** Choice of lines of all members. */
export interface MergedLineQuery extends Omit<LineQuery, 'after'> {
  /** The number of the last line that was seen of members; `sinceMs` is for all others. */
  readonly after?: ReadonlyMap<string, number>
}

/** Reads lines of every member. */
export interface DeploymentLogs {
  /** Lines in order of time. Those of members that do not answer are left out. */
  lines(deployment: string, query: MergedLineQuery): Promise<readonly DeploymentLine[]>
}
