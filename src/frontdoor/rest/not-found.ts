/** What a path is answered that leads nowhere, or only somewhere else. */

import type { FastifyRequest } from 'fastify'

import { HeddleError } from '../../errors.ts'

const unoffered: readonly (readonly [path: RegExp, what: string])[] = [
  [/\/runs\/crons(\/|$)/, 'Crons are'],
  [/^\/store\//, 'The store is'],
  [/^\/threads\/[^/]+\/(commands|stream\/events)$/, 'Protocol v2 is'],
  [/^\/threads\/[^/]+\/stream$/, 'Following a whole thread is'],
  [/^\/threads\/[^/]+\/storage$/, 'The storage report is'],
  [/^\/threads\/[^/]+\/state$/, 'Changing the metadata of a state is'],
  [/^\/threads\/prune$/, 'Pruning is'],
  [/^\/runs\/batch$/, 'Creating runs in a batch is'],
  [/^\/runs\/cancel$/, 'Cancelling many runs at once is'],
  [/^\/mcp(\/|$)/, 'MCP is'],
  [/^\/a2a(\/|$)/, 'A2A is'],
  [/^\/ui(\/|$)/, 'Serving UI components is'],
]

export function notFound({ method, url }: FastifyRequest): never {
  const path = url.split('?', 1)[0]!
  const [, what] = unoffered.find(([pattern]) => pattern.test(path)) ?? []
  throw new HeddleError('not_found', what === undefined
    ? `There is no ${method} ${path}; /docs lists what there is.`
    : `${what} not offered by this server yet.`)
}
