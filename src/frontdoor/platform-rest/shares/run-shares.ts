/** Routes that share a trace or a conversation, and take that back. */

import type { FastifyRequest } from 'fastify'

import { getConversationShare, getRunShare, shareConversation, shareRun, shareRunV2,
  unshareConversation, unshareRun, unshareRunV2 } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Platform, SharedObject } from '../../../platform/index.ts'
import { sendJson } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireId } from '../path-id.ts'
import { projectOf, projectsOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Adds the routes below `/api/v1`. */
export function runShareRoutes(app: App, { platform }: PlatformParts): void {
  const { shares } = platform

  serve(app, shareRun, async (request) => {
    const { id } = request.params
    const token = await shares.make(request.caller.tenant, await sharedTrace(platform, request))
    return { run_id: id, share_token: token }
  })

  serve(app, getRunShare, async (request, reply) => {
    const { id } = request.params
    const object = await sharedTrace(platform, request)
    const token = await shares.tokenOf(request.caller.tenant, object)
    // Fastify sends null as nothing.
    return sendJson(reply,
      JSON.stringify(token === undefined ? null : { run_id: id, share_token: token }))
  })

  serve(app, unshareRun, async (request) => {
    await shares.revoke(request.caller.tenant, await sharedTrace(platform, request))
    return { message: 'The run is not shared any more.' }
  })
}

/** Adds the routes below `/api/v2`. */
export function shareRoutesV2(app: App, { platform }: PlatformParts): void {
  const { shares } = platform

  serve(app, shareRunV2, async (request) => {
    await projectOf(platform, request, request.body.session_id)
    const object = await sharedTrace(platform, request, request.body.session_id)
    return { share_token: await shares.make(request.caller.tenant, object) }
  })

  serve(app, unshareRunV2, async ({ params, body, caller: { tenant } }) => {
    const id = requireId(params.id, 'run')
    const place = (await platform.query.locate({ tenant, ids: [id] }))
      .find(({ project }) => project === body.session_id)
    // The trace may be gone.
    await shares.revoke(tenant, { kind: 'run', project: body.session_id, id: place?.trace ?? id })
  })

  serve(app, shareConversation, async (request) => {
    const { params: { id }, body: { project_id: project }, caller: { tenant } } = request
    const found = await projectOf(platform, request, project)
    const [root] = await platform.query.spanIds({ tenant, projects: [found], version: 2,
      order: 'newest', limit: 1, rootsOnly: true, filter: `eq(thread_id, ${JSON.stringify(id)})` })
    if (root === undefined) throw new HeddleError('not_found', 'There is no such thread.')
    return { share_token: await shares.make(tenant, { kind: 'thread', project, id }) }
  })

  serve(app, getConversationShare, async (request) => {
    const { params: { id }, query: { project_id: project }, caller: { tenant } } = request
    await projectOf(platform, request, project)
    const token = await shares.tokenOf(tenant, { kind: 'thread', project, id })
    return token === undefined ? {} : { share_token: token }
  })

  serve(app, unshareConversation, async ({ params: { id }, query, caller: { tenant } }) => {
    await shares.revoke(tenant, { kind: 'thread', project: query.project_id, id })
  })
}

/** The trace that a run is in: all of it is shared. Throws `not_found`. */
async function sharedTrace(platform: Platform,
  request: Pick<FastifyRequest, 'caller'> & { readonly params: { readonly id: string } },
  project?: string): Promise<SharedObject> {
  const id = requireId(request.params.id, 'run')
  const { tenant } = request.caller
  const places = (await platform.query.locate({ tenant, ids: [id] }))
    .filter((place) => project === undefined || place.project === project)
  const [place] = places
  const [found] = await projectsOf(platform, request, places.map((each) => each.project))
  if (place === undefined || found === undefined) {
    throw new HeddleError('not_found', 'There is no such run.')
  }
  return { kind: 'run', project: place.project, id: place.trace }
}
