/** The routes by which `langgraphjs deploy` follows a revision: its status, and lines. */

import { getHostedRevision, listHostedRevisions, readHostedBuildLines, readHostedLines,
  readHostedRevisionLines } from '../../api/index.ts'
import type { HostedLinesBody, HostedLinesPage } from '../../api/index.ts'
import type { Deployment, DeploymentEvent, DeploymentLine,
  Revision } from '../../deployment/index.ts'
import type { App } from '../http/route.ts'
import { serveFresh } from '../http/serve.ts'
import { buildLinesIn, hostedRevision, hostedStatus, linesPage,
  writtenLine } from './hosted-json.ts'
import { hostedDeploymentOf, hostedRevisionOf } from './hosted-parts.ts'
import type { ControlParts } from './parts.ts'

const eventsPage = 100
const linesMax = 1_000

/** Adds the routes that read revisions of a deployment, and lines of builds and code. */
export function hostedRevisionRoutes(app: App, parts: ControlParts): void {
  const { records, builds } = parts.deployments
  const json = async (deployment: Deployment, revision: Revision) =>
    hostedRevision(revision, hostedStatus(deployment, revision, await builds?.phase(revision)))

  serveFresh(app, listHostedRevisions, async (request) => {
    const deployment = await hostedDeploymentOf(parts, request)
    const { limit = 10 } = request.query
    const rows = await records.revisions(deployment, { limit, offset: 0 })
    return { offset: 0, resources: await Promise.all(rows.map((each) => json(deployment, each))) }
  })
  serveFresh(app, getHostedRevision, async (request) => {
    const { deployment, revision } = await hostedRevisionOf(parts, request)
    return await json(deployment, revision)
  })
  serveFresh(app, readHostedBuildLines, async (request) => {
    const { deployment, revision } = await hostedRevisionOf(parts, request)
    return linesPage(buildLinesIn(await eventsOf(parts, deployment), revision), request.body)
  })
  serveFresh(app, readHostedLines, async (request) => {
    const { name } = await hostedDeploymentOf(parts, request)
    return await written(parts, name, request.body, {})
  })
  serveFresh(app, readHostedRevisionLines, async (request) => {
    const { deployment, revision } = await hostedRevisionOf(parts, request)
    return await written(parts, deployment.name, request.body, { revision: revision.name })
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

async function written({ deployments: { logs } }: ControlParts, name: string,
  asked: HostedLinesBody, options: { readonly revision?: string }): Promise<HostedLinesPage> {
  const level = levels[asked.level?.toUpperCase() ?? '']
  const [from, to] = [asked.start_time, asked.end_time].map((time) => Date.parse(time ?? ''))
  const lines = await logs.lines(name, { ...options, limit: linesMax, ...level && { level },
    ...from !== undefined && !Number.isNaN(from) && { sinceMs: from } })
  const until = lines.filter(({ atMs }) => to === undefined || Number.isNaN(to) || atMs <= to)
  return linesPage(until.map(writtenLine), asked)
}
