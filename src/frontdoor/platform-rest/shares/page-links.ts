/**
 * The addresses of pages that clients print, as those of the product are written. Each leads to
 * the page of the Studio that shows the same. They say nothing of any tenant: the Studio asks who
 * looks.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { openComparison, openContext, openContextCommit, openDataset, openDatasets, openDeployment,
  openDeployments, openHubCommit, openHubPrompt, openProject, openProjects, openPrompt,
  openPromptCommit, openRun, openSharedDataset, openSharedRun,
  openTenant } from '../../../api/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { runPage, studioPath } from '../links.ts'
import type { StudioPage } from '../links.ts'

/** The page of a prompt, of this owner if one is named, at a version. */
function promptPage(name: string, commit?: string, owner?: string): StudioPage {
  return { path: ['prompts', owner === undefined || owner === '-' ? name : `${owner}/${name}`],
    ...commit && { search: { at: commit } } }
}

/** Adds the routes below `/api/v1`. */
export function pageLinkRoutes(app: App): void {
  for (const operation of [openTenant, openProjects]) {
    serve(app, operation, async (request, reply) => lead(request, reply, { path: ['traces'] }))
  }
  serve(app, openProject,
    async (request, reply) => lead(request, reply, { path: ['traces', request.params.project] }))
  serve(app, openRun, async (request, reply) => {
    const { project, run } = request.params
    return lead(request, reply, runPage(project, run, request.query.trace_id))
  })
  for (const operation of [openDeployments, openDeployment]) {
    serve(app, operation, async (request, reply) => lead(request, reply, { path: ['deployments'] }))
  }
  datasetLinks(app)
  sharedLinks(app)
  promptLinks(app)
}

function datasetLinks(app: App): void {
  serve(app, openDatasets, async (request, reply) => lead(request, reply, { path: ['datasets'] }))
  serve(app, openDataset,
    async (request, reply) => lead(request, reply, { path: ['datasets', request.params.dataset] }))
  serve(app, openComparison, async (request, reply) => {
    const { params, query: { selectedSessions: compare } } = request
    return lead(request, reply, { path: ['datasets', params.dataset],
      search: { view: 'experiments', ...compare && { compare } } })
  })
}

function sharedLinks(app: App): void {
  serve(app, openSharedRun,
    async (request, reply) => lead(request, reply, { path: ['public', request.params.token] }))
  serve(app, openSharedDataset,
    async (request, reply) => lead(request, reply, { path: ['public', request.params.token, 'd'] }))
}

function promptLinks(app: App): void {
  for (const operation of [openPrompt, openContext]) {
    serve(app, operation, async (request, reply) =>
      lead(request, reply, promptPage(request.params.name)))
  }
  for (const operation of [openPromptCommit, openContextCommit]) {
    serve(app, operation, async (request, reply) => {
      const { name, commit } = request.params
      return lead(request, reply, promptPage(name, commit))
    })
  }
  serve(app, openHubPrompt, async (request, reply) => {
    const { owner, name } = request.params
    const [own = '', commit] = name.split(':', 2)
    return lead(request, reply, promptPage(own, commit, owner))
  })
  serve(app, openHubCommit, async (request, reply) => {
    const { owner, name, commit } = request.params
    return lead(request, reply, promptPage(name, commit, owner))
  })
}

/** Leads there by a path that holds also below a path that a proxy has given the server. */
function lead(request: Pick<FastifyRequest, 'originalUrl' | 'deployment'>, reply: FastifyReply,
  page: StudioPage): FastifyReply {
  const [path = ''] = request.originalUrl.split('?', 1)
  const depth = path.replace(/\/$/, '').split('/').length - 2
  const slash = path.endsWith('/') ? 1 : 0
  return reply.redirect('../'.repeat(depth + slash) + studioPath(request.deployment, page))
}
