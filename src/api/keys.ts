/** API keys, for the admins of a tenant. */

import { Type } from 'typebox'

import { Maybe, Nullable, OneOf, Text, Time } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

const roles = ['admin', 'developer', 'reader', 'deployer'] as const

const Body = Type.Object({
  name: Type.String({ maxLength: 100, description: 'A name for people.' }),
  role: Type.Optional(OneOf(roles, { default: 'developer' })),
  deployment: Maybe(
    Type.String({ pattern: '^[a-z0-9-]{1,63}$',
      description: 'The only deployment that it may call; null for any, which is the default.' }),
  ),
  expires_in_days: Maybe(
    Type.Number({ exclusiveMinimum: 0, maximum: 36_500,
      description: 'Days until it expires; null for never, which is the default.' }),
  ),
  expires_at: Maybe(
    Type.String({ format: 'date-time', description: 'When it expires, instead of the days.' }),
  ),
}, { examples: [{ name: 'shop', role: 'developer', expires_in_days: 90 }] })

const ApiKey = Type.Object({
  id: Text(),
  name: Text(),
  role: OneOf(roles),
  tenant: Text(),
  deployment: Nullable(Type.String({ description: 'The only deployment that it may call.' })),
  created_at: Time(),
  last_used_at: Nullable(Time()),
  expires_at: Nullable(Time()),
  revoked_at: Nullable(Time()),
}, { $id: 'ApiKey', description: 'The key, without its text.' })

const NewApiKey = Type.Object({
  ...ApiKey.properties,
  key: Type.String({ description: 'The text of the key, which is shown only here.' }),
}, { $id: 'NewApiKey', description: 'The new key.' })

export const listKeys = operation('GET', '/keys', {
  access: 'admin',
  summary: 'List the API keys of the tenant, newest first',
  answer: Type.Array(ApiKey),
})

export const createKey = operation('POST', '/keys', {
  access: 'admin',
  summary: 'Create an API key of the tenant',
  body: Body,
  answer: NewApiKey,
})

export const revokeKey = operation('DELETE', '/keys/:key_id', {
  access: 'admin',
  summary: 'Revoke an API key of the tenant for ever',
  params: Type.Object({ key_id: Text(64) }),
})

/** A key that a client asks for. */
export type KeyBody = Value<typeof Body>
/** A key, without its text. */
export type ApiKey = Value<typeof ApiKey>
