/** Parts that the routes for `langgraphjs deploy` share. */

import type { FastifyRequest } from 'fastify'

import { changeSecrets, loadedSecretsOf } from '../../deployment/index.ts'
import type { Deployment, Revision } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import type { HostedSecrets } from '../../api/index.ts'
import { commandRoot, hostedRoot } from '../platform-rest/platform-target.ts'
import { byOf } from './parts.ts'
import type { ControlParts } from './parts.ts'

/** Deployments that a tenant may have, and more. */
const deploymentsMax = 1_000
/** Revisions that are found by their id. */
const revisionsMax = 200

/** The root by which a command calls, for the addresses that it calls next. */
export function calledRoot({ originalUrl }: Pick<FastifyRequest, 'originalUrl'>): string {
  return originalUrl.startsWith(`${commandRoot}/`) ? commandRoot : hostedRoot
}

type Request<Parts> = Pick<FastifyRequest<{ Params: Parts }>, 'caller' | 'params'>

interface DeploymentPath {
  readonly id: string
}

interface RevisionPath extends DeploymentPath {
  readonly revision: string
}

/** The deployments of the caller. */
export async function hostedDeployments({ deployments: { records } }: ControlParts,
  { caller }: Pick<FastifyRequest, 'caller'>): Promise<readonly Deployment[]> {
  const found = await records.list({ tenant: caller.tenant, limit: deploymentsMax, offset: 0 })
  return found.filter(({ name, removing }) =>
    !removing && (caller.deployment == null || caller.deployment === name)
  )
}

/** The deployment that a path names by its id or its name. Throws `not_found`. */
export async function hostedDeploymentOf(parts: ControlParts,
  request: Request<DeploymentPath>): Promise<Deployment> {
  const { id } = request.params
  const found = (await hostedDeployments(parts, request))
    .find((each) => each.id === id || each.name === id)
  if (found !== undefined) return found
  throw new HeddleError('not_found', `There is no deployment ${id}.`)
}

/** The revision that a path names. Throws `not_found`. */
export async function hostedRevisionOf(parts: ControlParts,
  request: Request<RevisionPath>
): Promise<{ readonly deployment: Deployment; readonly revision: Revision }> {
  const deployment = await hostedDeploymentOf(parts, request)
  return { deployment, revision: await revisionById(parts, deployment, request.params.revision) }
}

/** Finds a revision of a deployment by its id or its name. Throws `not_found`. */
export async function revisionById({ deployments: { records } }: ControlParts,
  deployment: Deployment, id: string): Promise<Revision> {
  const found = (await records.revisions(deployment, { limit: revisionsMax, offset: 0 }))
    .find((each) => each.id === id || each.name === id)
  if (found !== undefined) return found
  throw new HeddleError('not_found', `${deployment.name} has no revision ${id}.`)
}

/** Sets those that are new or differ. What runs goes on with the former ones. */
export async function setHostedSecrets({ deployments }: ControlParts, deployment: Deployment,
  { caller }: Pick<FastifyRequest, 'caller'>, given: HostedSecrets | undefined): Promise<void> {
  if (given === undefined || given.length === 0) return
  const { records, secrets } = deployments
  const { id } = deployment
  const before = await secrets.reveal(id, loadedSecretsOf(deployment))
  const values = new Map(given.filter(({ name, value }) => before[name] !== value)
    .map(({ name, value }) => [name, value]))
  if (values.size === 0) return
  // The build that follows brings them.
  const { entries } = await changeSecrets(deployments, deployment, values, { by: byOf(caller),
    message: '', loads: false, wait: true })
  for (const { name, version } of entries) {
    await records.note(id, { kind: 'secret', by: byOf(caller),
      data: { name, change: 'set', version } })
  }
}
