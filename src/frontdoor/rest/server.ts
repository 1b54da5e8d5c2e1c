/** The routes of the server itself: whether it serves, and what it is. */

import { Type } from 'typebox'

import { route, sendJson } from './route.ts'
import type { App, RouteParts } from './route.ts'

export interface ServerFacts {
  readonly version: string
}

const CheckServer = Type.Object({
  check_db: Type.Optional(Type.Boolean({ description: 'Ask the store as well.' })),
})

const flags = {
  assistants: true, crons: false, langsmith: false, langsmith_tracing_replicas: false,
}

export function serverRoutes(app: App, { assistants, tenant }: RouteParts, facts: ServerFacts):
  void {
  app.get('/ok', route({ tag: 'Server', summary: 'Whether the server serves',
    querystring: CheckServer, answer: 'Ok' }), async ({ query }, reply) => {
    if (query.check_db) await assistants.count(tenant, {})
    return sendJson(reply, '{"ok":true}')
  })

  app.get('/info', route({ tag: 'Server', summary: 'What the server is and offers',
    answer: 'Info' }), async (_request, reply) =>
    sendJson(reply, JSON.stringify({ version: facts.version, context: 'js', flags, metadata: {} })))
}
