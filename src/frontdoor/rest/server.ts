/** The routes of the server itself: whether it serves, and what it is. */

import { Type } from 'typebox'

import { route, sendJson } from './route.ts'
import type { App } from './route.ts'

export interface ServerFacts {
  readonly version: string
  /** Throws a HeddleError where the store is out of reach. */
  checkStore(): Promise<void>
}

const CheckServer = Type.Object({
  check_db: Type.Optional(Type.Boolean({ description: 'Ask the store as well.' })),
})

const flags = {
  assistants: true, crons: false, langsmith: false, langsmith_tracing_replicas: false,
}

export function serverRoutes(app: App, { version, checkStore }: ServerFacts): void {
  app.get('/ok', route({ tag: 'Server', summary: 'Whether the server serves',
    querystring: CheckServer, answer: 'Ok' }), async ({ query }, reply) => {
    if (query.check_db) await checkStore()
    return sendJson(reply, '{"ok":true}')
  })

  app.get('/info', route({ tag: 'Server', summary: 'What the server is and offers',
    answer: 'Info' }), async (_request, reply) =>
    sendJson(reply, JSON.stringify({ version, context: 'js', flags, metadata: {} })))
}
