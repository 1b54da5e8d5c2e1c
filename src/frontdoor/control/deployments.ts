/** The routes of deployments: made, listed, changed and removed. */

import type { FastifyRequest } from 'fastify'

import { createDeployment, deleteDeployment, getDeployment, listDeployments,
  updateDeployment } from '../../api/index.ts'
import type { Body, DeploymentBody } from '../../api/index.ts'
import { isDeploymentName } from '../../deployment/index.ts'
import type { Deployment, DeploymentChange } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { withoutUndefined } from '../../json/index.ts'
import type { App } from '../http/route.ts'
import { calledHost } from '../mount/index.ts'
import { deploymentJson } from './deployment-json.ts'
import { checkedHosts } from './hosts.ts'
import type { HostRules } from './hosts.ts'
import { byOf, changed, ownDeployment, serveControl } from './parts.ts'
import type { ControlParts, DeploymentParts, MemberProblem } from './parts.ts'

/** Adds the routes of deployments. */
export function deploymentRoutes(app: App, parts: ControlParts): void {
  const { deployments: { records } } = parts
  const json = (request: FastifyRequest, deployment: Deployment,
    problems: readonly MemberProblem[] = []) =>
    deploymentJson(deployment, urlOf(request, deployment, parts.deployments), problems)
  const problemsNow = async () => await parts.deployments.problems?.() ?? []

  serveControl(app, createDeployment,
    async (request) => json(request, await created(parts, request, request.body)))
  serveControl(app, listDeployments, async (request) => {
    const { query: { limit = 10, offset = 0 }, caller: { tenant, deployment: only } } = request
    const found = only == null
      ? await records.list({ tenant, limit, offset })
      : await onlyOne(parts, request, only)
    const rows = found.filter(({ removing }) => !removing)
    const problems = rows.length === 0 ? [] : await problemsNow()
    return { deployments: rows.map((each) => json(request, each, problems)) }
  })
  serveControl(app, getDeployment,
    async (request) => json(request, await ownDeployment(parts, request), await problemsNow()))
  serveControl(app, updateDeployment, async (request) => {
    const { body, caller } = request
    const deployment = await ownDeployment(parts, request)
    const change = changeIn(body, hostRulesFor(request, parts, deployment.hosts))
    const after = await changed(parts, deployment, change)
    await records.note(after.id, { kind: 'deployment', by: byOf(caller),
      data: { change: 'changed', ...saidIn(body) } })
    return json(request, after)
  })
  serveControl(app, deleteDeployment, async (request) => {
    const deployment = await ownDeployment(parts, request, 'or removing')
    await beginRemoval(parts, deployment, request.query.data === 'remove')
    return { removing: true }
  })
}

async function created(parts: ControlParts, request: FastifyRequest,
  { name, access, limits, record, hosts, preview }: Body<typeof createDeployment>
): Promise<Deployment> {
  const { records, serving } = parts.deployments
  const { caller } = request
  if (!isDeploymentName(name)) {
    throw new HeddleError('invalid', 'name: must be a DNS label: small letters, digits and ' +
      'dashes, not only digits, and no dash at either end.')
  }
  const deployment = await records.create({ name, tenant: caller.tenant, ...access && { access },
    ...limits && { limits: withoutUndefined(limits) }, ...record !== undefined && { record },
    ...hosts && { hosts: checkedHosts(hosts, hostRulesFor(request, parts)) }, ...preview &&
    { preview: { of: preview.of, label: preview.label, ttlMs: preview.ttl_s * 1_000 } } })
  await records.note(deployment.id, { kind: 'deployment', by: byOf(caller),
    data: { change: 'created', name } })
  await serving.learn(name)
  return deployment
}

/** Throws `invalid` if it is in use, and nobody said that its data go. */
async function beginRemoval(parts: ControlParts, deployment: Deployment,
  withData: boolean): Promise<void> {
  const { deployments: { records, data }, env } = parts
  const isEmpty = deployment.active === null && await data.isEmpty(deployment)
  if (!isEmpty && !deployment.removing && !withData) {
    throw new HeddleError('invalid', `${deployment.name} has an active revision, or data: ` +
      'add ?data=remove to remove it with its threads, items and traces.')
  }
  const marked = deployment.removing
    ? deployment
    : await changed(parts, deployment, () => ({ removing: true }))
  // It goes on beside the answer: the member that owns the records goes on where it stopped.
  const removal = isEmpty ? records.remove(marked) : data.remove(marked)
  removal.catch((error: unknown) =>
    env.log.warn('A deployment could not be removed yet.', { error, deployment: marked.name })
  )
}

/** For a key that may call one deployment. */
async function onlyOne(parts: ControlParts, { caller }: Pick<FastifyRequest, 'caller'>,
  deployment: string): Promise<readonly Deployment[]> {
  return await ownDeployment(parts, { caller, params: { deployment } }).then((one) => [one],
    () => [])
}

/** The name by which the control API is called is the server's: a deployment would hide it. */
function hostRulesFor(request: FastifyRequest, { servedHosts, deployments }: ControlParts,
  before: readonly string[] = []): HostRules {
  const { domain, ownHosts = [], allowedHosts = [], isFromProxy } = deployments
  return { caller: request.caller, before, domain, allowed: allowedHosts, servedHosts,
    ownHosts: [...ownHosts, calledHost(request, isFromProxy)] }
}

/** Known fields of a change, for its event: the others may be as long as a body may be. */
function saidIn({ access, limits, record, hosts, paused }: DeploymentBody): object {
  return withoutUndefined({ access, limits, record, hosts, paused })
}

function changeIn({ access, limits, record, hosts, paused }: DeploymentBody,
  rules: HostRules): (now: Deployment) => DeploymentChange {
  const names = hosts && checkedHosts(hosts, rules)
  return (now) => ({ ...access && { access }, ...names && { hosts: names },
    ...limits && { limits: { ...now.limits, ...withoutUndefined(limits) } },
    ...record !== undefined && { record }, ...paused !== undefined && { paused } })
}

/** URL at which its data are served, as the client that asks reaches the server. */
export function urlOf({ protocol, host }: FastifyRequest, { name, hosts: [first] }: Deployment,
  { domain }: Pick<DeploymentParts, 'domain'>): string {
  if (first !== undefined) return `https://${first}`
  return domain === undefined ? `${protocol}://${host}/d/${name}` : `https://${name}.${domain}`
}
