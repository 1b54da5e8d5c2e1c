/** Routes of v2 about conversations, which are threads on this wire. */

import { readConversationsStats, readConversationStats } from '../../api/index.ts'
import type { RunsQueryV2 } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { leftSignal } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { projectOf, sendBytes } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { questionOfV1, questionOfV2 } from './runs-question.ts'

/** Adds the routes below `/api/v2`. */
export function threadRoutesV2(app: App, { platform, env }: PlatformParts): void {
  serve(app, readConversationsStats, async (request, reply) => {
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

  serve(app, readConversationStats, async (request, reply) => {
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
export function refuseThreadFilter(body: Pick<RunsQueryV2, 'thread_filter'>): void {
  if (!body.thread_filter?.trim()) return
  throw new HeddleError('unsupported', 'thread_filter is not supported: use filter.')
}
