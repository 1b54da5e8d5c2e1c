/** Common code of the routes of the control API: their parts, and the deployments of a caller. */

import type { FastifyRequest } from 'fastify'

import type { Env } from '../../../cluster/index.ts'
import type { Operation } from '../../api/index.ts'
import type { Builds, CountRevisionUse, Deployment, DeploymentChange, DeploymentLogs, Deployments,
  DeploymentSecrets, ReportRevision, Replays, Revision, RevisionUse, Rollouts, Serving,
  ServingProblem } from '../../deployment/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { Caller } from '../http/caller.ts'
import type { App, RouteParts } from '../http/route.ts'
import { serveFresh } from '../http/serve.ts'
import type { Handler } from '../http/serve.ts'
import type { MountParts, ServedHosts } from '../mount/index.ts'

/** A revision that a member cannot load. */
export interface MemberProblem extends ServingProblem {
  readonly member: string
}

/** Deployments as a front door needs them. */
export interface DeploymentParts extends Pick<MountParts, 'charge' | 'domain' | 'isFromProxy'> {
  readonly records: Omit<Deployments, 'collect'>
  readonly secrets: Pick<DeploymentSecrets, 'list' | 'reveal' | 'seal' | 'settle' | 'unopened'>
  readonly rollouts: Rollouts
  /** Builds of uploaded files; by default, nothing is built here. */
  readonly builds?: Builds
  /** Replays of recorded runs; by default, nothing is replayed here. */
  readonly replays?: Replays
  readonly serving:
    & Pick<Serving, 'all' | 'find' | 'named' | 'open' | 'view' | 'learn' | 'watch'>
    & Partial<Pick<Serving, 'components' | 'requireServes'>>
  /** Asks all members which revisions they cannot load; by default nobody is asked. */
  readonly problems?: () => Promise<readonly MemberProblem[]>
  /** Names of those that this member cannot serve; by default none. */
  readonly failing?: () => readonly string[]
  /** Resolves when all members have read the deployment anew, or after two seconds. */
  announce(name: string): Promise<void>
  /** Notes who calls a deployment. Awaited before a request is served; by default nothing is. */
  readonly requested?: MountParts['requested']
  readonly data: {
    /** True if callers have stored nothing in it. */
    isEmpty(deployment: Deployment): Promise<boolean>
    /** Begins to remove all that it has, itself last. Its record says that it is being removed. */
    remove(deployment: Deployment): Promise<void>
  }
  readonly logs: DeploymentLogs
  /**
   * Calls back when code of a deployment, by its id, has written lines on any member, or an event
   * was noted. One call may be for many, and a call may be lost.
   */
  watchUpdates(deployment: string, updated: () => void): () => void
  readonly report: ReportRevision
  /** Counts runs and threads of revisions; by default, they are not counted. */
  readonly use?: CountRevisionUse
  /** Host names that no deployment may have: those of the server itself. */
  readonly ownHosts?: readonly string[]
  /** Host names that admins may give, `*.example.org` for all below one; by default none. */
  readonly allowedHosts?: readonly string[]
}

/** Parts of which the routes of the control API are made. */
export interface ControlParts extends Pick<RouteParts, 'ticker' | 'quotas'> {
  readonly deployments: DeploymentParts
  /** The names by which callers reached the server itself. */
  readonly servedHosts: Pick<ServedHosts, 'servedOthers'>
  readonly env: Env
}

/** Bytes of a body. The longest are manifests: a million characters of some bytes each. */
const bodyMax = 4 * 1024 * 1024

/** Serves an operation of the control API, whose answers nobody may keep. */
export function serveControl<Of extends Operation>(app: App, operation: Of,
  handler: Handler<Of>): void {
  serveFresh(app, operation, handler, { bodyLimit: bodyMax })
}

/** Name of a caller in the audit log: a key's id, a user or `local`. */
export function byOf({ identity }: Caller): string {
  if (identity.kind === 'user') return identity.id
  return identity.kind === 'key' ? identity.id ?? 'key' : 'local'
}

/** The deployment that a path names, if it is the caller's. Throws `not_found`. */
export async function ownDeployment({ deployments: { records } }: Pick<ControlParts, 'deployments'>,
  { caller, params }: Pick<FastifyRequest, 'caller'> & { readonly params: unknown },
  removing: 'or removing' | 'kept' = 'kept'): Promise<Deployment> {
  const { deployment: name } = params as { readonly deployment: string }
  const nothing = () => new HeddleError('not_found', `There is no deployment ${name}.`)
  const deployment = await records.get(name).catch((error: unknown) => {
    throw HeddleError.from(error).code === 'not_found' ? nothing() : error
  })
  const isHidden = deployment.removing && removing === 'kept'
  if (deployment.tenant !== caller.tenant || isHidden) throw nothing()
  return deployment
}

/** True if a deployment went since it was looked up. Ask this after a watch on it has begun. */
export async function isGone({ deployments: { records } }: Pick<ControlParts, 'deployments'>,
  { id, name }: Deployment): Promise<boolean> {
  const now = await records.get(name).catch(ignoreNotFound)
  return now === undefined || now.removing || now.id !== id
}

/** Attempts at the change of a record: a roll-out may change it at the same time. */
const triesMax = 8

/** Changes a deployment, whatever else changes it meanwhile, and lets all members know. */
export async function changed(
  { deployments: { records, announce } }: Pick<ControlParts, 'deployments'>,
  deployment: Deployment,
  change: (now: Deployment) => DeploymentChange,
): Promise<Deployment> {
  for (let tries = 1, now = deployment;; tries++) {
    try {
      const after = await records.change(now, change(now))
      await announce(now.name)
      return after
    } catch (error) {
      if (HeddleError.from(error).code !== 'stale' || tries === triesMax) throw error
      now = await records.get(now.name)
      if (now.removing) throw error
    }
  }
}

/** Use of the revisions of a deployment, by name; null if that is not counted. */
export async function useOf({ deployments: { use } }: Pick<ControlParts, 'deployments'>,
  { name }: Deployment): Promise<ReadonlyMap<string, RevisionUse> | null> {
  return use === undefined ? null : await use(name)
}

/** The use of one revision; null if it was not counted. */
export function usedBy(use: ReadonlyMap<string, RevisionUse> | null,
  { name }: Pick<Revision, 'name'>): RevisionUse | null {
  return use === null ? null : use.get(name) ?? { running: 0, waitingThreads: 0 }
}

/** RFC 7240: the client reads the rest from events. */
export function prefersAsync({ headers: { prefer } }: Pick<FastifyRequest, 'headers'>): boolean {
  return String(prefer ?? '').toLowerCase().split(/[,;]/)
    .some((each) => each.trim() === 'respond-async')
}
