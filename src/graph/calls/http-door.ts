/** The door of `node:http` and `node:https`: the way in which a request asks for a connection. */

import { Agent } from 'node:http'
import type { ClientRequest } from 'node:http'

import type { Call } from './call.ts'
import type { CallDecision } from './call-gate.ts'
import { callScope } from './call-scope.ts'
import type { CallScope } from './call-scope.ts'
import type { DoorParts } from './dispatcher-door.ts'
import { RequestedCall } from './requested-call.ts'
import { callHeaders } from './request-headers.ts'
import { RequestWrites } from './request-writes.ts'
import { storedPairs, whenHeaderStored } from './stored-header.ts'

interface AgentParts {
  addRequest(request: ClientRequest, ...rest: unknown[]): void
}

/**
 * Replaces the way in which agents give connections to requests. A request that waits for one keeps
 * all that is written. Those with a `createConnection` of their own do not pass here. Returns a
 * function that undoes it.
 */
export function openHttpDoor(parts: DoorParts): () => void {
  const agents = Agent.prototype as unknown as AgentParts
  const plain = agents.addRequest
  agents.addRequest = function(request, ...rest) {
    const scope = callScope()
    const url = scope && urlOf(request, rest[0])
    if (scope === undefined || url === undefined || parts.leavesOut(url)) {
      return plain.call(this, request, ...rest)
    }
    const writes = new RequestWrites(request)
    const requested = new RequestedCall(request, writes, () => plain.call(this, request, ...rest))
    whenHeaderStored(request, () =>
      void requested.take(
        decide(scope, { id: parts.nextId(), client: 'http', method: request.method, url,
          headers: callHeaders(storedPairs(request)), body: writes, site: scope.site }),
      ))
  }
  return () => {
    agents.addRequest = plain
  }
}

function decide({ gate }: CallScope, call: Call): CallDecision | Promise<CallDecision> {
  try {
    return gate.decide(call)
  } catch (error) {
    return { kind: 'fail', error: error instanceof Error ? error : new Error(String(error)) }
  }
}

/** The place that a request asks an agent to connect to. */
interface ConnectOptions {
  readonly host?: string
  readonly port?: number | string
}

/** The absolute URL; undefined for a tunnel. */
function urlOf(request: ClientRequest, options: unknown): string | undefined {
  if (request.method === 'CONNECT') return undefined
  const { host = request.host, port = '' } = (options ?? {}) as ConnectOptions
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  const text = /^https?:\/\//.test(request.path)
    ? request.path
    : `${request.protocol}//${name}:${port}${request.path}`
  return URL.canParse(text) ? new URL(text).href : undefined
}
