/** Documents about the source of tokens for tools and agents (RFC 9728). */

import { Type } from 'typebox'

import { Text } from '../json.ts'
import { operation } from '../operation.ts'

const ProtectedResource = Type.Object({
  resource: Text(),
  authorization_servers: Type.Array(Text()),
  bearer_methods_supported: Type.Array(Text()),
  resource_name: Text(),
}, { $id: 'ProtectedResource', description: 'Where tokens for this address come from (RFC 9728).' })

const resource = {
  asks: { nothing: 'It says where tokens come from, and tells of no data.' },
  access: 'public',
  answer: ProtectedResource,
} as const

export const getToolResource = operation('GET', '/.well-known/oauth-protected-resource/mcp', {
  ...resource,
  summary: 'Where tokens for the Model Context Protocol come from',
})

export const getAgentResource = operation('GET',
  '/.well-known/oauth-protected-resource/a2a/:assistant_id', {
  ...resource,
  summary: 'Where tokens for an agent come from',
})
