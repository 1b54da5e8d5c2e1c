/** The schemas of requests and answers about API keys. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { Nullable, OneOf } from './json.ts'

const roles = ['admin', 'developer', 'reader', 'deployer'] as const

/** The path of a key. */
export const KeyPath = Type.Object({ key_id: Type.String({ maxLength: 64 }) })

/** Body of requests that create a key. */
export const CreateKey = Type.Object({
  name: Type.String({ maxLength: 100, description: 'A name for people.' }),
  role: Type.Optional(OneOf(roles, { default: 'developer' })),
  deployment: Type.Optional(Nullable(
    Type.String({ pattern: '^[a-z0-9-]{1,63}$',
      description: 'The only deployment that it may call; null for any, which is the default.' }),
  )),
  expires_in_days: Type.Optional(Nullable(
    Type.Number({ exclusiveMinimum: 0, maximum: 36_500,
      description: 'Days until it expires; null for never, which is the default.' }),
  )),
  expires_at: Type.Optional(Nullable(
    Type.String({ format: 'date-time', description: 'When it expires, instead of the days.' }),
  )),
}, { examples: [{ name: 'shop', role: 'developer', expires_in_days: 90 }] })
/** A checked body of `CreateKey`. */
export type CreateKey = Static<typeof CreateKey>

const Time = () => Type.String({ format: 'date-time' })

const key = {
  id: Type.String(),
  name: Type.String(),
  role: OneOf(roles),
  tenant: Type.String(),
  deployment: Nullable(Type.String({ description: 'The only deployment that it may call.' })),
  created_at: Time(),
  last_used_at: Nullable(Time()),
  expires_at: Nullable(Time()),
  revoked_at: Nullable(Time()),
}

const ApiKey = Type.Object(key, { $id: 'ApiKey', description: 'The key, without its text.' })
/** An answer about a key. */
export type ApiKey = Static<typeof ApiKey>

const NewApiKey = Type.Object({ ...key,
  key: Type.String({ description: 'The text of the key, which is shown only here.' }) }, {
  $id: 'NewApiKey',
  description: 'The new key.',
})

/** Schemas of answers about keys. They only document. */
export const keyAnswers = [ApiKey, NewApiKey]
