/** The routes of the server itself: its health and its description. */

import type { FastifyRequest } from 'fastify'

import type { ClusterStatus, Env } from '../../../cluster/index.ts'
import { checkServer, getCaller, getServerInfo } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { tenantOfNamespace } from '../../limits/index.ts'
import { tenantId } from '../../platform/index.ts'
import type { Region } from '../../settings/index.ts'
import { checkAll } from '../http/dependency.ts'
import type { Dependency } from '../http/dependency.ts'
import { sendJson } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { invalid } from '../schema/validation.ts'
import { callerDetails } from './caller-details.ts'
import { isFromHere } from './from-here.ts'
import { servedGraphs } from './server-features.ts'
import type { ServedGraph, ServerOffer } from './server-features.ts'

/** Details of the server that its routes show. */
export interface ServerDetails {
  readonly version: string
  readonly env: Env
  /** Dependencies that the server needs, or works worse without. */
  readonly dependencies: readonly Dependency[]
  /** The page that a monitor reads; undefined if metrics have a port of their own. */
  readonly metrics?: MetricsPage
  /** Region where this is deployed, with its published addresses; undefined if it has no region. */
  readonly region?: (Region & { readonly name: string; readonly api_url?: string }) | undefined
  readonly offer: ServerOffer
  /** The name of the folder of its own project. */
  readonly project?: string | undefined
  /** Names of deployments that this member cannot serve; by default none. */
  readonly failing?: (() => readonly string[]) | undefined
  /** The cluster as this member sees it. */
  clusterStatus(): ClusterStatus
}

/** The metrics in the text format of Prometheus, and as JSON. */
export interface MetricsPage {
  readonly contentType: string
  text(): Promise<string>
  json(): Promise<string>
}

const flags = {
  assistants: true,
  crons: true,
  langsmith: false,
  langsmith_tracing_replicas: false,
  strict_resume: true,
  stream_namespaces: true,
}

/** Why a graph cannot be loaded is for callers that may read: `/auth` has it with keys. */
function offered(request: FastifyRequest, offer: ServerOffer): object {
  const { auth, features } = offer
  const own = request.deployment === undefined
    ? features
    : { ...features, studio: false, cluster: false, keys: false }
  return { auth, features: own, ...auth === 'none' && { graphs: graphsFor(request, offer) } }
}

/** The graphs of the deployment that is called, or of the server's own project. */
function graphsFor({ deployment }: FastifyRequest,
  { graphs }: ServerOffer): readonly ServedGraph[] {
  return deployment === undefined ? graphs() : servedGraphs(deployment)
}

/** Adds the routes of the server: `/ok`, `/info`, `/auth`, and those for this machine. */
export function serverRoutes(app: App, details: ServerDetails): void {
  const { version, region, offer } = details
  serve(app, checkServer, async (request, reply) => {
    if (!request.query.check_db) return sendJson(reply, '{"ok":true}')
    const dependencies = await checkAll(details)
    const answer = { ok: true, dependencies, ...failures(request, details) }
    return sendJson(reply, JSON.stringify(answer))
  }, { exposeHeadRoute: true })
  serve(app, getServerInfo,
    async (request, reply) =>
      sendJson(reply,
        JSON.stringify({ version, context: 'js', flags, metadata: {}, region,
          ...offered(request, offer) })))
  // The client of traces asks here, too, so the answer has what both of them read.
  serve(app, getCaller, async (request, reply) => {
    const { caller } = request
    const id = tenantId(caller.tenant)
    return sendJson(reply, JSON.stringify({
      org_config: { org_id: id, tenant_id: id, display_name: tenantOfNamespace(caller.tenant) },
      ...callerDetails(caller, region?.name ?? null),
      ...offer.auth !== 'none' && { graphs: graphsFor(request, offer) },
    }))
  })
  nearRoutes(app, details)
}

/** Names of tenants' deployments are for the operator. */
function failures(request: FastifyRequest, { failing, offer }: ServerDetails): object {
  const names = failing?.() ?? []
  if (names.length === 0) return {}
  const isOperator = offer.auth === 'none' || isFromHere(request)
  return { deployments: { not_serving: names.length, ...isOperator && { names } } }
}

/**
 * Adds routes for the operator of this machine. For all others they do not exist, also behind a
 * proxy on this machine.
 */
function nearRoutes(app: App, { clusterStatus, metrics, project }: ServerDetails): void {
  const forHere = { schema: { hide: true }, config: { access: 'public' } } as const
  app.get('/internal/cluster', forHere, async (request, reply) => {
    if (!isFromHere(request)) throw new HeddleError('not_found')
    return sendJson(reply, JSON.stringify(clusterStatus()))
  })

  // A command that was given no server says which one it has found.
  app.get('/internal/project', forHere, async (request, reply) => {
    if (!isFromHere(request) || project === undefined) throw new HeddleError('not_found')
    return sendJson(reply, JSON.stringify({ project }))
  })

  if (metrics === undefined) return
  app.get('/metrics', forHere, async (request, reply) => {
    if (!isFromHere(request)) throw new HeddleError('not_found')
    const { format = 'prometheus' } = request.query as { readonly format?: string }
    if (format === 'json') return sendJson(reply, await metrics.json())
    if (format === 'prometheus') {
      return reply.type(metrics.contentType).send(await metrics.text())
    }
    throw invalid([{ field: 'format', message: 'must be prometheus or json' }])
  })
}
