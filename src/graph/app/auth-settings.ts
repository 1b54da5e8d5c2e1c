/** The login that a langgraph.json names: its file, and who besides it may call. */

import { z } from 'zod'

import { shapeError } from '../shape-error.ts'
import { loginSecurityOf } from './login-security.ts'
import type { LoginSecurity } from './login-security.ts'

/** Settings of a login, as a deployment keeps them. Absent members were not written. */
export interface AuthSettings {
  /** The file and its export, as `./auth.ts:auth`. */
  readonly path: string
  readonly disable_studio_auth?: boolean
  /** Answers of `authenticate` are kept by the values of these headers. */
  readonly cache?: {
    readonly cache_keys: string[]
    readonly ttl_seconds: number
    readonly max_size: number
  }
  /** Credentials that callers need, for agent cards. */
  readonly openapi?: LoginSecurity
}

const cacheShape = z.strictObject({
  cache_keys: z.array(z.string(), { error: 'must be a list of names of headers' })
    .min(1, 'must name a header').max(32, 'may name 32 headers'),
  ttl_seconds: z.number('must be a number of seconds').positive('must be above 0')
    .max(86_400, 'must not be above 86400'),
  max_size: z.int('must be a whole number').positive('must be above 0')
    .max(100_000, 'must not be above 100000'),
}, { error: shapeError('must be {"cache_keys": ["authorization"], "ttl_seconds": 60, ' +
  '"max_size": 1000}') })

/**
 * Shape of the key `auth` with this form of paths. It is strict: what is not understood there may
 * guard something. `openapi` only documents.
 */
export function authShape(path: z.ZodType<string>) {
  const shape = z.strictObject({
    path,
    disable_studio_auth: z.boolean('must be true or false').optional(),
    cache: cacheShape.optional(),
    openapi: z.unknown().optional(),
  }, { error: shapeError('must be {"path": "./auth.ts:auth"}') })
  return z.preprocess((value) => asksForNothing(value) ? undefined : value, shape.optional())
}

/** The settings; undefined if there is no login. */
export function authOf(
  auth: z.infer<ReturnType<typeof authShape>>,
): AuthSettings | undefined {
  if (auth === undefined) return undefined
  const { path, disable_studio_auth: disabled, cache } = auth
  const openapi = loginSecurityOf(auth.openapi)
  return { path, ...disabled !== undefined && { disable_studio_auth: disabled },
    ...cache && { cache }, ...openapi && { openapi } }
}

/** True for what templates write of a key that they do not use. */
function asksForNothing(value: unknown): boolean {
  return !value || typeof value === 'object' && Object.keys(value).length === 0
}
