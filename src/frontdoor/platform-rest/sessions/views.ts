/** Routes of the saved views of projects. */

import { createView, deleteView, getView, listViews, patchView,
  viewsMax } from '../../../api/index.ts'
import type { ViewBody } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { readTimeUs } from '../../../platform/index.ts'
import type { ViewName } from '../../../platform/index.ts'
import type { Caller } from '../../http/caller.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { projectOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { requireId } from '../path-id.ts'

/** Adds the routes below `/api/v1`. */
export function viewRoutes(app: App, { platform }: PlatformParts): void {
  const { views } = platform

  serve(app, listViews,
    async ({ params, query: { type, limit = viewsMax, offset = 0 }, caller }, reply) => {
      const project = await projectIn(caller, params.id)
      const { views: found, total } = await views.list(caller.tenant, project, { limit, offset,
        ...type && { type } })
      reply.header('x-pagination-total', total)
      return found
    })
  serve(app, createView, async ({ params, body, caller }) => {
    const project = await projectIn(caller, params.id)
    await requireReadable(body)
    return views.create(caller.tenant, project, body)
  })
  serve(app, getView, async ({ params, caller }) => views.get(await viewIn(caller, params)))
  serve(app, patchView, async ({ params, body, caller }) => {
    const view = await viewIn(caller, params)
    await requireReadable(body)
    return views.patch(view, body)
  })
  serve(app, deleteView, async ({ params, caller }) => {
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
