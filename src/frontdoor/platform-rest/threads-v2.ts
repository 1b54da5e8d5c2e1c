/** Routes of v2 about conversations, which are threads on this wire. */

import { Type } from 'typebox'

import { HeddleError } from '../../errors.ts'
import { leftSignal } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { Json, Nullable, Uuid } from '../schema/json.ts'
import { platformRoute, projectOf, sendBytes } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { questionOfV1, questionOfV2 } from './runs-question.ts'

const filter = () => Type.Optional(Nullable(Type.String({ maxLength: 8_192 })))
const select = (options: object = {}) =>
  Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100, ...options })

const ThreadsStats = Type.Object({ project_id: Uuid(), select: select({ minItems: 1 }),
  filter: filter(), trace_filter: filter(), tree_filter: filter(), thread_filter: filter(),
  min_start_time: Type.Optional(Json()), max_start_time: Type.Optional(Json()) })
const ThreadStats = Type.Object({ session_id: Uuid(), selects: select(), filter: filter() })
const IdPath = Type.Object({ id: Type.String() })

/** Adds the routes below `/api/v2`. */
export function threadRoutesV2(app: App, { platform, env }: PlatformParts): void {
  app.post('/threads/stats', platformRoute('read', { body: ThreadsStats }),
    async (request, reply) => {
      const { body, caller: { tenant } } = request
      refuseThreadFilter(body)
      const project = await projectOf(platform, request, body.project_id)
      const question = questionOfV2(tenant, [project], { ...body, selects: body.select },
        env.nowMs() * 1_000)
      return sendBytes(reply,
        await platform.query.groups({ ...question, form: 'groupStats', offset: 0 }, {
          signal: leftSignal(reply),
        }))
    })

  app.get('/threads/:id/stats', platformRoute('read', { params: IdPath, querystring: ThreadStats }),
    async (request, reply) => {
      const { params, query, caller: { tenant } } = request
      const project = await projectOf(platform, request, query.session_id)
      const own = `eq(thread_id, ${JSON.stringify(params.id)})`
      const question = questionOfV1(tenant, [project], {
        filter: query.filter ? `and(${own}, ${query.filter})` : own,
      })
      const form = { form: 'threadStats', offset: 0, version: 2, select: query.selects } as const
      return sendBytes(reply,
        await platform.query.groups({ ...question, ...form }, { signal: leftSignal(reply) }))
    })
}

/** A condition that is not kept must not look as if it were. */
export function refuseThreadFilter(body: { readonly thread_filter?: string | null }): void {
  if (!body.thread_filter?.trim()) return
  throw new HeddleError('unsupported', 'thread_filter is not supported: use filter.')
}
