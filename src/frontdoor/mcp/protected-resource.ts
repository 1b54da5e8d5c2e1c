/** Documents about the source of tokens for this address (RFC 9728), if users have logins. */

import type { FastifyRequest } from 'fastify'

import { getDeployedToolResource, getToolResource } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { outerPath } from '../http/caller.ts'
import { sendJson } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'

const root = '/.well-known/oauth-protected-resource'

/** Adds the documents. `issuer` gives out the tokens; undefined if users have no logins. */
export function resourceRoutes(app: App, issuer: string | undefined): void {
  const document = (request: FastifyRequest, path: string) => {
    if (!isAddress(issuer)) {
      throw new HeddleError('not_found', 'This server names no issuer of tokens: call it with an ' +
        'API key, if it asks for one.')
    }
    return JSON.stringify({ resource: originOf(request) + path, authorization_servers: [issuer],
      bearer_methods_supported: ['header'], resource_name: 'Heddle' })
  }
  serve(app, getToolResource,
    async (request, reply) => sendJson(reply, document(request, outerPath(request, '/mcp'))))
  serve(app, getDeployedToolResource,
    async (request, reply) =>
      sendJson(reply, document(request, `/d/${request.params.deployment}/mcp`)))
}

/** The part of a challenge that leads to the document; empty for other addresses than `/mcp`. */
export function challengeOf(request: FastifyRequest, issuer: string | undefined): string {
  if (!isAddress(issuer) || !isToolAddress(request.url)) return ''
  return `, resource_metadata="${originOf(request)}${root}${outerPath(request, '/mcp')}"`
}

/** True for the routed address of the protocol. */
export function isToolAddress(url: string): boolean {
  return /^\/mcp(?:\?|$)/.test(url)
}

function originOf({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}`
}

function isAddress(issuer: string | undefined): issuer is string {
  return issuer !== undefined && /^https?:\/\//.test(issuer)
}
