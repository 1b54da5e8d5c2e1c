/** The routes of the server itself: whether it serves, and what it is. */

import { isIPv4 } from 'node:net'

import { Type } from 'typebox'

import type { ClusterStatus } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { Region } from '../../region.ts'
import { route, sendJson } from './route.ts'
import type { App } from './route.ts'

export interface ServerFacts {
  readonly version: string
  /** Throws a HeddleError where the store is out of reach. */
  checkStore(): Promise<void>
  /** Where this is deployed, with its published addresses; undefined where it is no region's. */
  readonly region?: (Region & { readonly name: string }) | undefined
  /** How the cluster looks from here. */
  clusterStatus(): ClusterStatus
}

const CheckServer = Type.Object({
  check_db: Type.Optional(Type.Boolean({ description: 'Ask the store as well.' })),
})

const flags = {
  assistants: true, crons: false, langsmith: false, langsmith_tracing_replicas: false,
}

export function serverRoutes(app: App, { version, region, checkStore, clusterStatus }: ServerFacts):
void {
  app.get('/ok', route({ tag: 'Server', summary: 'Whether the server serves',
    querystring: CheckServer, answer: 'Ok' }), async ({ query }, reply) => {
    if (query.check_db) await checkStore()
    return sendJson(reply, '{"ok":true}')
  })

  app.get('/info', route({ tag: 'Server', summary: 'What the server is and offers',
    answer: 'Info' }), async (_request, reply) =>
    sendJson(reply, JSON.stringify({ version, context: 'js', flags, metadata: {}, region })))

  app.get('/internal/cluster', { schema: { hide: true } }, async ({ socket }, reply) => {
    // For whoever runs the members of this machine; nobody else is told that it is there.
    if (!isFromHere(socket.remoteAddress)) throw new HeddleError('not_found')
    return sendJson(reply, JSON.stringify(clusterStatus()))
  })
}

function isFromHere(address: string | undefined): boolean {
  const plain = address?.replace(/^::ffff:/, '') ?? ''
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}
