/** Routes of the saved views of projects. */

import { Type } from 'typebox'

import { HeddleError } from '../../../errors.ts'
import { readTimeUs, viewsMax, viewTypes } from '../../../platform/index.ts'
import type { ViewBody, ViewName } from '../../../platform/index.ts'
import type { Caller } from '../../http/caller.ts'
import type { App } from '../../http/route.ts'
import { Nullable, Offset, OneOf } from '../../schema/json.ts'
import { platformRoute, projectOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { requireId } from '../path-id.ts'

const text = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })))

const Fields = {
  description: text(10_000),
  filter_string: text(8_192),
  trace_filter_string: text(8_192),
  tree_filter_string: text(8_192),
  type: Type.Optional(Nullable(OneOf([...viewTypes]))),
  start_time: text(100),
  end_time: text(100),
  duration: text(100),
}
const Name = () => Type.String({ minLength: 1, maxLength: 1_000 })
const MakeView = Type.Object({ ...Fields, display_name: Name() })
const PatchView = Type.Object({ ...Fields, display_name: Type.Optional(Nullable(Name())) })
const ListViews = Type.Object({
  type: Type.Optional(OneOf([...viewTypes])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: viewsMax, default: viewsMax })),
  offset: Type.Optional(Offset()),
})
const ProjectPath = Type.Object({ id: Type.String() })
const ViewPath = Type.Object({ id: Type.String(), view: Type.String() })

/** Adds the routes below `/api/v1`. */
export function viewRoutes(app: App, { platform }: PlatformParts): void {
  const { views } = platform

  app.get('/sessions/:id/views',
    platformRoute('read', { params: ProjectPath, querystring: ListViews }),
    async ({ params, query: { type, limit = viewsMax, offset = 0 }, caller }, reply) => {
      const project = await projectIn(caller, params.id)
      const { views: found, total } = await views.list(caller.tenant, project, { limit, offset,
        ...type && { type } })
      reply.header('x-pagination-total', total)
      return found
    })
  app.post('/sessions/:id/views', platformRoute('change', { params: ProjectPath, body: MakeView }),
    async ({ params, body, caller }) => {
      const project = await projectIn(caller, params.id)
      await requireReadable(body)
      return views.create(caller.tenant, project, body)
    })
  app.get('/sessions/:id/views/:view', platformRoute('read', { params: ViewPath }),
    async ({ params, caller }) => views.get(await viewIn(caller, params)))
  app.patch('/sessions/:id/views/:view',
    platformRoute('change', { params: ViewPath, body: PatchView }),
    async ({ params, body, caller }) => {
      const view = await viewIn(caller, params)
      await requireReadable(body)
      return views.patch(view, body)
    })
  app.delete('/sessions/:id/views/:view', platformRoute('change', { params: ViewPath }),
    async ({ params, caller }) => {
      await views.delete(await viewIn(caller, params))
      return { message: 'The view is deleted.' }
    })

  const projectIn = async (caller: Caller, id: string) =>
    (await projectOf(platform, { caller }, requireId(id, 'project'))).id

  const viewIn = async (caller: Caller,
    { id, view }: { readonly id: string; readonly view: string }): Promise<ViewName> => ({
      tenant: caller.tenant,
      project: await projectIn(caller, id),
      id: requireId(view, 'view'),
    })

  /** Throws `invalid` for a filter or a time that nobody could ask with. */
  async function requireReadable(body: ViewBody): Promise<void> {
    for (const name of ['start_time', 'end_time'] as const) {
      if (body[name] == null || readTimeUs(body[name]) !== undefined) continue
      throw new HeddleError('invalid', `${name}: expected a time.`)
    }
    for (const name of ['filter_string', 'trace_filter_string', 'tree_filter_string'] as const) {
      const filter = body[name] ?? ''
      const fault = filter.trim() === '' ? null : await platform.query.validate({ filter })
      if (fault !== null) throw new HeddleError('invalid', `${name}: ${fault}`)
    }
  }
}
