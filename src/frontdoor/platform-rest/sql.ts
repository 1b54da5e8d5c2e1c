/** The route of questions in SQL. */

import { askSql } from '../../api/index.ts'
import { leftSignal } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { projectsOf, sendBytes } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'

/** Adds the route below `/api/v2`. */
export function sqlRoutes(app: App, { platform }: PlatformParts): void {
  serve(app, askSql, async (request, reply) => {
    const { body: { project_ids: ids, query }, caller: { tenant } } = request
    const projects = await projectsOf(platform, request, ids)
    return sendBytes(reply,
      await platform.query.sql({ tenant, projects, query }, { signal: leftSignal(reply) }))
  })
}
