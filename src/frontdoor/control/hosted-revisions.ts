/** The routes by which `langgraphjs deploy` follows a revision: its status, and lines. */

import type { Deployment, DeploymentEvent, DeploymentLine,
  Revision } from '../../deployment/index.ts'
import type { App } from '../http/route.ts'
import { sendFresh } from '../http/serve.ts'
import { HostedLines, HostedPath, HostedRevisionPath, HostedRevisions } from '../schema/hosted.ts'
import { buildLinesIn, hostedRevision, hostedStatus, linesPage,
  writtenLine } from './hosted-json.ts'
import { hostedRoot } from '../platform-rest/platform-target.ts'
import { hostedDeploymentOf, hostedRevisionOf, hostedRoute } from './hosted-parts.ts'
import type { ControlParts } from './parts.ts'

const eventsPage = 100
const linesMax = 1_000

/** Adds the routes that read revisions of a deployment, and lines of builds and code. */
export function hostedRevisionRoutes(app: App, parts: ControlParts): void {
  const { records, builds } = parts.deployments
  const below = `${hostedRoot}/v2/deployments/:id/revisions`
  const project = `${hostedRoot}/v1/projects/:id`
  const json = async (deployment: Deployment, revision: Revision) =>
    hostedRevision(revision, hostedStatus(deployment, revision, await builds?.phase(revision)))

  app.get(below, hostedRoute({ params: HostedPath, querystring: HostedRevisions }),
    async (request, reply) => {
      const deployment = await hostedDeploymentOf(parts, request)
      const { limit = 10 } = request.query
      const rows = await records.revisions(deployment, { limit, offset: 0 })
      return sendFresh(reply, { offset: 0,
        resources: await Promise.all(rows.map((each) => json(deployment, each))) })
    })

  app.get(`${below}/:revision`, hostedRoute({ params: HostedRevisionPath }),
    async (request, reply) => {
      const { deployment, revision } = await hostedRevisionOf(parts, request)
      return sendFresh(reply, await json(deployment, revision))
    })

  app.post(`${project}/revisions/:revision/build_logs`,
    hostedRoute({ params: HostedRevisionPath, body: HostedLines }), async (request, reply) => {
    const { deployment, revision } = await hostedRevisionOf(parts, request)
    const lines = buildLinesIn(await eventsOf(parts, deployment), revision)
    return sendFresh(reply, linesPage(lines, request.body))
  })

  app.post(`${project}/deploy_logs`, hostedRoute({ params: HostedPath, body: HostedLines }),
    async (request, reply) => {
      const { name } = await hostedDeploymentOf(parts, request)
      return sendFresh(reply, await written(parts, name, request.body, {}))
    })

  app.post(`${project}/revisions/:revision/deploy_logs`,
    hostedRoute({ params: HostedRevisionPath, body: HostedLines }), async (request, reply) => {
    const { deployment, revision } = await hostedRevisionOf(parts, request)
    return sendFresh(reply, await written(parts, deployment.name, request.body, {
      revision: revision.name,
    }))
  })
}

async function eventsOf({ deployments: { records } }: ControlParts,
  { id }: Deployment): Promise<readonly DeploymentEvent[]> {
  const all: DeploymentEvent[] = []
  for (let isMore = true; isMore;) {
    const page = await records.events(id, all.at(-1)?.seq ?? 0, eventsPage)
    all.push(...page)
    isMore = page.length === eventsPage
  }
  return all
}

const levels: Readonly<Record<string, DeploymentLine['level']>> = { DEBUG: 'debug', INFO: 'info',
  WARNING: 'warn', WARN: 'warn', ERROR: 'error', CRITICAL: 'error' }

async function written({ deployments: { logs } }: ControlParts, name: string, asked: HostedLines,
  options: { readonly revision?: string }): Promise<object> {
  const level = levels[asked.level?.toUpperCase() ?? '']
  const [from, to] = [asked.start_time, asked.end_time].map((time) => Date.parse(time ?? ''))
  const lines = await logs.lines(name, { ...options, limit: linesMax, ...level && { level },
    ...from !== undefined && !Number.isNaN(from) && { sinceMs: from } })
  const until = lines.filter(({ atMs }) => to === undefined || Number.isNaN(to) || atMs <= to)
  return linesPage(until.map(writtenLine), asked)
}
