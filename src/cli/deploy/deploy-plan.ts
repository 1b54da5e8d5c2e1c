/** The plan of a deployment. */

import type { ControlDeployment, ControlRevision } from '../../api/index.ts'
import type { ControlAccess } from '../control/control-command.ts'
import type { ControlCommandSource } from '../control/control-source.ts'
import type { TypedBuild } from './built-project.ts'

/** Steps and options of a deployment. */
export interface DeployPlan {
  readonly name: string
  /** Undefined if it is no preview. */
  readonly preview:
    | { readonly of: string; readonly label: string; readonly ttl_s: number }
    | undefined
  readonly build: TypedBuild
  /** True to pack all packages again, also those that did not change since the last deploy. */
  readonly repacks: boolean
  /** True if the server builds it. */
  readonly isRemote: boolean
  readonly message: string
  /**
   * activate  new runs go to it
   * keep      it is there to be activated later
   * check     it is removed again
   */
  readonly goal: 'activate' | 'keep' | 'check'
  /** The share of new runs; undefined for all. */
  readonly percent: number | undefined
  /** Runs under way go on with it, too. */
  readonly movesRuns: boolean
  /** Secrets that are set first. */
  readonly secrets: Readonly<Record<string, string>> | undefined
  /** Share of runs that are recorded, which is set first; undefined to leave it. */
  readonly record: string | null | undefined
  /** Runs to replay on the revision first, and the share of them that may differ, in per cent. */
  readonly replay: { readonly sample: number; readonly maxDiverged: number } | undefined
  readonly watches: boolean
  readonly timeoutMs: number
  readonly json: boolean
}

/** A plan with all that carries it out. */
export interface Deploying {
  readonly source: ControlCommandSource
  readonly access: ControlAccess
  readonly plan: DeployPlan
}

/** The last line of JSON. */
export function resultOf(result: 'unchanged' | 'ready' | 'checked' | 'active' | 'share',
  { name, url }: ControlDeployment, revision: Pick<ControlRevision, 'name'>): object {
  return { result, deployment: name, revision: revision.name, url }
}
