/** The addresses of deployments. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** Parts of the page of a deployment. */
const deploymentViews = ['revisions', 'logs', 'secrets', 'events'] as const

/** Levels of lines: each shows those above as well. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

/** What the page of a deployment shows. */
export interface DeploymentSearch {
  /** The revisions if absent. */
  readonly view?: typeof deploymentViews[number] | undefined
  /** The revision that is looked at, or whose lines are shown. */
  readonly revision?: string | undefined
  /** Only lines of this level and those above. */
  readonly level?: typeof logLevels[number] | undefined
}

/** Reads it. */
export const readDeploymentSearch = (raw: RawSearch): DeploymentSearch => ({
  view: oneOf(raw, 'view', deploymentViews),
  revision: textIn(raw, 'revision'),
  level: oneOf(raw, 'level', logLevels),
})
