/** The route of questions in SQL. */

import { Type } from 'typebox'

import { leftSignal } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { Uuid } from '../schema/json.ts'
import { platformRoute, projectsOf, sendBytes } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'

const Question = Type.Object({
  project_ids: Type.Array(Uuid(), { minItems: 1, maxItems: 100 }),
  query: Type.String({ minLength: 1, maxLength: 20_000 }),
})

/** Adds the route below `/api/v2`. */
export function sqlRoutes(app: App, { platform }: PlatformParts): void {
  app.post('/sql/query', platformRoute('read', { body: Question }), async (request, reply) => {
    const { body: { project_ids: ids, query }, caller: { tenant } } = request
    const projects = await projectsOf(platform, request, ids)
    return sendBytes(reply,
      await platform.query.sql({ tenant, projects, query }, { signal: leftSignal(reply) }))
  })
}
