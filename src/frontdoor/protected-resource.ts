/**
 * Documents about the source of tokens for tools and agents (RFC 9728), and challenges that lead to
 * them. Clients compare the address in a document with the one that they called, so it has the same
 * prefixes.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { getAgentResource, getToolResource } from '../api/index.ts'
import { HeddleError } from '../errors.ts'
import { sendJson } from './http/list-reply.ts'
import type { App } from './http/route.ts'
import { serve } from './http/serve.ts'
import { calledIssuers, issuersIn } from './login/index.ts'
import type { LoginOf } from './login/index.ts'
import { isToolAddress } from './mcp/index.ts'
import { calledOrigin, calledPath, resourceRoot } from './mount/index.ts'
import type { FromProxy } from './mount/index.ts'

/** Addresses that tokens protect, and who gives these out. */
export interface ResourceParts {
  /** The issuer of the tokens of this server; undefined if users have none. */
  readonly issuer: string | undefined
  readonly isFromProxy: FromProxy | undefined
  /** True if assistants are tools, and agents. */
  readonly offers: { readonly tools: boolean; readonly agents: boolean }
}

/** Adds the documents. The login of a project takes the place of the tokens of this server. */
export function resourceRoutes(app: App, loginOf: LoginOf, parts: ResourceParts): void {
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    const login = await loginOf(request)
    const issuers = login === undefined ? ownIssuers(parts) : issuersIn(login.settings.openapi)
    const path = calledPath(request)
    if (issuers.length === 0 || !path?.includes(resourceRoot)) {
      throw new HeddleError('not_found', login === undefined
        ? 'This server names no issuer of tokens: call it with an API key, if it asks for one.'
        : 'The login of this project names no issuer of tokens: the project says what it asks for.')
    }
    const resource = calledOrigin(request, parts.isFromProxy) + path.replace(resourceRoot, '')
    return sendJson(reply,
      JSON.stringify({ resource, authorization_servers: issuers,
        bearer_methods_supported: ['header'], resource_name: 'Heddle' }))
  }
  if (parts.offers.tools) serve(app, getToolResource, send)
  if (parts.offers.agents) serve(app, getAgentResource, send)
}

/** The part of a challenge that leads to the document; empty for other addresses. */
export function challengeOf(request: FastifyRequest, parts: ResourceParts): string {
  const path = protectedPath(request, parts)
  const issuers = calledIssuers(request) ?? ownIssuers(parts)
  if (path === undefined || issuers.length === 0) return ''
  const origin = calledOrigin(request, parts.isFromProxy)
  return `, resource_metadata="${origin}${resourceRoot}${path}"`
}

function protectedPath(request: FastifyRequest, { offers }: ResourceParts): string | undefined {
  const { url } = request
  if (offers.tools && isToolAddress(url)) return calledPath(request)
  const isAgent = offers.agents && /^\/a2a\/[^/?#]/.test(url)
  return isAgent ? /^.*?\/a2a\/[^/]+/.exec(calledPath(request) ?? '')?.[0] : undefined
}

function ownIssuers({ issuer }: Pick<ResourceParts, 'issuer'>): readonly string[] {
  return issuer !== undefined && /^https?:\/\//.test(issuer) ? [issuer] : []
}
