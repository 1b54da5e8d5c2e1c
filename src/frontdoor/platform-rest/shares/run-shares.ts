/** Routes that share a trace or a conversation, and take that back. */

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'

import { HeddleError } from '../../../errors.ts'
import type { Platform, SharedObject } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { Nullable, Uuid } from '../../schema/json.ts'
import { requireId } from '../path-id.ts'
import { platformRoute, projectOf, projectsOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'

const IdPath = Type.Object({ id: Type.String() })
const ThreadPath = Type.Object({ id: Type.String({ maxLength: 1_000 }) })
/** The token that a client proposes is not taken: it may be one that others can guess. */
const PutShare = Type.Object({ run_id: Type.Optional(Uuid()) })
const PostShare = Type.Object({ session_id: Uuid(), trace_id: Type.Optional(Nullable(Uuid())) })
const DeleteShare = Type.Object({ session_id: Uuid() })
const ThreadShare = Type.Object({ project_id: Uuid() })

/** Adds the routes below `/api/v1`. */
export function runShareRoutes(app: App, { platform }: PlatformParts): void {
  const { shares } = platform

  app.put('/runs/:id/share', platformRoute('change', { params: IdPath, body: PutShare }),
    async (request) => {
      const { id } = request.params
      const token = await shares.make(request.caller.tenant, await sharedTrace(platform, request))
      return { run_id: id, share_token: token }
    })

  app.get('/runs/:id/share', platformRoute('read', { params: IdPath }), async (request, reply) => {
    const { id } = request.params
    const object = await sharedTrace(platform, request)
    const token = await shares.tokenOf(request.caller.tenant, object)
    // Fastify sends null as nothing.
    return reply.type('application/json')
      .send(JSON.stringify(token === undefined ? null : { run_id: id, share_token: token }))
  })

  app.delete('/runs/:id/share', platformRoute('change', { params: IdPath }), async (request) => {
    await shares.revoke(request.caller.tenant, await sharedTrace(platform, request))
    return { message: 'The run is not shared any more.' }
  })
}

/** Adds the routes below `/api/v2`. */
export function shareRoutesV2(app: App, { platform }: PlatformParts): void {
  const { shares } = platform

  app.post('/runs/:id/share', platformRoute('change', { params: IdPath, body: PostShare }),
    async (request) => {
      await projectOf(platform, request, request.body.session_id)
      const object = await sharedTrace(platform, request, request.body.session_id)
      return { share_token: await shares.make(request.caller.tenant, object) }
    })

  app.delete('/runs/:id/share', platformRoute('change', { params: IdPath, body: DeleteShare }),
    async ({ params, body, caller: { tenant } }, reply) => {
      const id = requireId(params.id, 'run')
      const place = (await platform.query.locate({ tenant, ids: [id] }))
        .find(({ project }) => project === body.session_id)
      // The trace may be gone.
      await shares.revoke(tenant, { kind: 'run', project: body.session_id, id: place?.trace ?? id })
      return reply.code(204).send()
    })

  app.post('/threads/:id/share', platformRoute('change', { params: ThreadPath, body: ThreadShare }),
    async (request) => {
      const { params: { id }, body: { project_id: project }, caller: { tenant } } = request
      const found = await projectOf(platform, request, project)
      const [root] = await platform.query.spanIds({ tenant, projects: [found], version: 2,
        order: 'newest', limit: 1, rootsOnly: true,
        filter: `eq(thread_id, ${JSON.stringify(id)})` })
      if (root === undefined) throw new HeddleError('not_found', 'There is no such thread.')
      return { share_token: await shares.make(tenant, { kind: 'thread', project, id }) }
    })

  app.get('/threads/:id/share',
    platformRoute('read', { params: ThreadPath, querystring: ThreadShare }), async (request) => {
    const { params: { id }, query: { project_id: project }, caller: { tenant } } = request
    await projectOf(platform, request, project)
    const token = await shares.tokenOf(tenant, { kind: 'thread', project, id })
    return token === undefined ? {} : { share_token: token }
  })

  app.delete('/threads/:id/share',
    platformRoute('change', { params: ThreadPath, querystring: ThreadShare }),
    async ({ params: { id }, query, caller: { tenant } }, reply) => {
      await shares.revoke(tenant, { kind: 'thread', project: query.project_id, id })
      return reply.code(204).send()
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
