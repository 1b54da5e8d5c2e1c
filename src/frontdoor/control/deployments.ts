/** The routes of deployments: made, listed, changed and removed. */

import type { FastifyRequest } from 'fastify'

import { isDeploymentName } from '../../deployment/index.ts'
import type { Deployment, DeploymentChange } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { withoutUndefined } from '../../json/index.ts'
import type { App } from '../http/route.ts'
import { calledHost } from '../mount/index.ts'
import { CreateDeployment, DeleteDeployment, DeploymentPath, PageOf,
  PatchDeployment } from '../schema/control.ts'
import { deploymentJson } from './deployment-json.ts'
import { checkedHosts } from './hosts.ts'
import type { HostRules } from './hosts.ts'
import { byOf, changed, controlRoot, controlRoute, ownDeployment, sendFresh } from './parts.ts'
import type { ControlParts, DeploymentParts, MemberProblem } from './parts.ts'

/** Adds the routes of deployments. */
export function deploymentRoutes(app: App, parts: ControlParts): void {
  const { deployments: { records, serving, data }, env } = parts
  const json = (request: FastifyRequest, deployment: Deployment,
    problems: readonly MemberProblem[] = []) =>
    deploymentJson(deployment, urlOf(request, deployment, parts.deployments), problems)
  const problemsNow = async () => await parts.deployments.problems?.() ?? []

  app.post(controlRoot,
    controlRoute('createDeployment', { summary: 'Create a deployment', body: CreateDeployment,
      answer: 'Deployment' }), async (request, reply) => {
    const { body, caller } = request
    const { name, access, limits, hosts, preview } = body
    if (!isDeploymentName(name)) {
      throw new HeddleError('invalid', 'name: must be a DNS label: small letters, digits and ' +
        'dashes, not only digits, and no dash at either end.')
    }
    const deployment = await records.create({ name, tenant: caller.tenant, ...access && { access },
      ...limits && { limits: withoutUndefined(limits) },
      ...hosts && { hosts: checkedHosts(hosts, hostRulesFor(request, parts)) }, ...preview &&
      { preview: { of: preview.of, label: preview.label, ttlMs: preview.ttl_s * 1_000 } } })
    await records.note(deployment.id, { kind: 'deployment', by: byOf(caller),
      data: { change: 'created', name } })
    await serving.learn(name)
    return sendFresh(reply.code(201), json(request, deployment))
  })

  app.get(controlRoot,
    controlRoute('listDeployments', { summary: 'List the deployments of the tenant by name',
      querystring: PageOf, answer: 'Deployments' }), async (request, reply) => {
    const { query: { limit = 10, offset = 0 }, caller: { tenant, deployment: only } } = request
    const found = only == null
      ? await records.list({ tenant, limit, offset })
      : await onlyOne(parts, request, only)
    const rows = found.filter(({ removing }) => !removing)
    const problems = rows.length === 0 ? [] : await problemsNow()
    return sendFresh(reply, { deployments: rows.map((each) => json(request, each, problems)) })
  })

  app.get(`${controlRoot}/:deployment`,
    controlRoute('getDeployment', { summary: 'Get a deployment', params: DeploymentPath,
      answer: 'Deployment' }),
    async (request, reply) =>
      sendFresh(reply, json(request, await ownDeployment(parts, request), await problemsNow())))

  app.patch(`${controlRoot}/:deployment`, controlRoute('updateDeployment', {
    summary: 'Change who may call a deployment, its hosts, its ' +
      'limits, or whether it takes new runs',
    params: DeploymentPath,
    body: PatchDeployment,
    answer: 'Deployment',
  }), async (request, reply) => {
    const { body, caller } = request
    const deployment = await ownDeployment(parts, request)
    const change = changeIn(body, hostRulesFor(request, parts, deployment.hosts))
    const after = await changed(parts, deployment, change)
    await records.note(after.id, { kind: 'deployment', by: byOf(caller),
      data: { change: 'changed', ...saidIn(body) } })
    return sendFresh(reply, json(request, after))
  })

  app.delete(`${controlRoot}/:deployment`,
    controlRoute('deleteDeployment', { summary: 'Remove a deployment with all of its data',
      params: DeploymentPath, querystring: DeleteDeployment, answer: 'Removing' }),
    async (request, reply) => {
      const deployment = await ownDeployment(parts, request, 'or removing')
      const isEmpty = deployment.active === null && await data.isEmpty(deployment)
      if (!isEmpty && !deployment.removing && request.query.data !== 'remove') {
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
      return sendFresh(reply.code(202), { removing: true })
    })
}

/** For a key that may call one deployment. */
async function onlyOne(parts: ControlParts, { caller }: FastifyRequest,
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

/** What a change says. A body may have fields that mean nothing, as long as it is. */
function saidIn({ access, limits, hosts, paused }: PatchDeployment): object {
  return withoutUndefined({ access, limits, hosts, paused })
}

function changeIn({ access, limits, hosts, paused }: PatchDeployment,
  rules: HostRules): (now: Deployment) => DeploymentChange {
  const names = hosts && checkedHosts(hosts, rules)
  return (now) => ({ ...access && { access }, ...names && { hosts: names },
    ...limits && { limits: { ...now.limits, ...withoutUndefined(limits) } },
    ...paused !== undefined && { paused } })
}

/** Where its data are served, as the client that asks reaches the server. */
export function urlOf({ protocol, host }: FastifyRequest, { name, hosts: [first] }: Deployment,
  { domain }: Pick<DeploymentParts, 'domain'>): string {
  if (first !== undefined) return `https://${first}`
  return domain === undefined ? `${protocol}://${host}/d/${name}` : `https://${name}.${domain}`
}
