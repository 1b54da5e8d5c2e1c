/**
 * The addresses of pages that clients print, as those of the product are written. Each leads to
 * the page of the Studio that shows the same. They say nothing of any tenant: the Studio asks who
 * looks.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'

import { openContext, openContextCommit, openHubCommit, openHubPrompt, openPrompt,
  openPromptCommit } from '../../../api/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { runPage, studioPath } from '../links.ts'
import type { StudioPage } from '../links.ts'
import { platformRoute } from '../platform-route.ts'

const texts = (...names: readonly string[]) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, Type.String({ maxLength: 1_000 })])))
const LinkQuery = Type.Object({
  trace_id: Type.Optional(Type.String({ maxLength: 100 })),
  selectedSessions: Type.Optional(Type.String({ maxLength: 8_192 })),
})

interface Query {
  readonly trace_id?: string
  readonly selectedSessions?: string
}

/** The page of a prompt, of this owner if one is named, at a version. */
function promptPage(name: string, commit?: string, owner?: string): StudioPage {
  return { path: ['prompts', owner === undefined || owner === '-' ? name : `${owner}/${name}`],
    ...commit && { search: { at: commit } } }
}

/** Adds the routes below `/api/v1`. */
export function pageLinkRoutes(app: App): void {
  const link = <Name extends string>(pattern: string, names: readonly Name[],
    page: (params: Readonly<Record<Name, string>>, query: Query) => StudioPage) => {
    app.get(pattern, platformRoute('public', { params: texts(...names), querystring: LinkQuery }),
      async (request, reply) => {
        const { params, query } = request as { readonly params: unknown; readonly query: unknown }
        return lead(request, reply, page(params as Readonly<Record<Name, string>>, query as Query))
      })
  }
  const project = '/o/:tenant/projects/p/:project'
  const dataset = '/o/:tenant/datasets/:dataset'
  link('/o/:tenant', ['tenant'], () => ({ path: ['traces'] }))
  link('/o/:tenant/projects', ['tenant'], () => ({ path: ['traces'] }))
  link(project, ['project'], (named) => ({ path: ['traces', named.project] }))
  link(`${project}/r/:run`, ['project', 'run'],
    (named, { trace_id: trace }) => runPage(named.project, named.run, trace))
  link('/o/:tenant/datasets', ['tenant'], () => ({ path: ['datasets'] }))
  link(dataset, ['dataset'], (named) => ({ path: ['datasets', named.dataset] }))
  link(`${dataset}/compare`, ['dataset'], (named, { selectedSessions: compare }) => ({
    path: ['datasets', named.dataset],
    search: { view: 'experiments', ...compare && { compare } },
  }))
  link('/o/:tenant/host/deployments', ['tenant'], () => ({ path: ['deployments'] }))
  link('/o/:tenant/host/deployments/:deployment', ['tenant'], () => ({ path: ['deployments'] }))
  link('/public/:token/r', ['token'], ({ token }) => ({ path: ['public', token] }))
  link('/public/:token/d', ['token'], ({ token }) => ({ path: ['public', token, 'd'] }))
  promptLinks(app)
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
