/** Logins of users: JSON web tokens of one issuer, checked and then cached for a while. */

import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose'
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose'

import { LRUCache } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { CodedError, HeddleError } from '../errors.ts'
import { memberOf } from '../json/index.ts'
import { isLoopback, namesOf, readSettingFile } from '../settings/index.ts'
import { callerRoles, hashOf, isTenant } from './key.ts'
import type { CallerRole } from './key.ts'

/** Issuer, audience and keys of the tokens that are accepted. */
export interface LoginOptions {
  readonly issuer: string
  /** Empty if any audience is accepted. */
  readonly audience: string
  /** A JSON web key set: the path of a file, or an https URL. */
  readonly keys: string
}

/** Claims of a token about its user. */
export interface Login {
  readonly tenant: string
  readonly userId: string
  readonly role: CallerRole
  /** Region of the tenant, if the token names it. */
  readonly region: string | undefined
  readonly expiresAtMs: number
}

/** Asymmetric algorithms only: a key that verifies tokens must not be able to sign them. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512',
  'EdDSA', 'Ed25519']

/**
 * Time after which a token is verified again. A key that its issuer withdraws is accepted longer:
 * keys from a URL are fetched again every ten minutes, those from a file only at the next start.
 */
const rememberedMs = 60_000
const rememberedMax = 10_000

/** Verifies tokens of one issuer. Belongs to a front door. */
export class JwtVerifier {
  readonly #env: Env
  readonly #expected: { readonly issuer: string; readonly audience?: string }
  readonly #keys: JWTVerifyGetKey
  /** By the hash of the token. */
  readonly #known = new LRUCache<string, { readonly session: Login; readonly checkedMs: number }>({
    max: rememberedMax,
  })

  /** Reads the keys. Throws HeddleError with a message if they cannot be read. */
  static open({ issuer, audience, keys }: LoginOptions, env: Env): JwtVerifier {
    const expected = audience === '' ? { issuer } : { issuer, audience }
    return new JwtVerifier(env, expected, keysFrom(keys))
  }

  private constructor(env: Env, expected: { issuer: string; audience?: string },
    keys: JWTVerifyGetKey) {
    this.#env = env
    this.#expected = expected
    this.#keys = keys
  }

  /**
   * The login of a token. Throws `unauthenticated` with a reason, `unavailable` if the keys cannot
   * be fetched.
   */
  async read(token: string): Promise<Login> {
    const hash = hashOf(token)
    const known = this.#known.get(hash)
    if (known !== undefined && this.#env.monotonicMs() - known.checkedMs < rememberedMs) {
      if (known.session.expiresAtMs > this.#env.nowMs()) return known.session
    }
    this.#known.delete(hash)
    const checkedMs = this.#env.monotonicMs()
    const session = await this.#checked(token)
    this.#known.set(hash, { session, checkedMs })
    return session
  }

  async #checked(token: string): Promise<Login> {
    try {
      const { payload } = await jwtVerify(token, this.#keys, {
        ...this.#expected,
        algorithms,
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(this.#env.nowMs()),
      })
      return loginOf(payload)
    } catch (error) {
      throw refusalOf(error)
    }
  }
}

function keysFrom(place: string): JWTVerifyGetKey {
  if (/^https?:/.test(place)) return keysAt(place)
  const text = readSettingFile('jwtKeys', place)
  try {
    return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet)
  } catch {
    throw new HeddleError('invalid', `${namesOf('jwtKeys')}: ${place} is no JSON web key set, ` +
      'which looks like {"keys": […]}.')
  }
}

function keysAt(place: string): JWTVerifyGetKey {
  const url = URL.parse(place)
  if (url === null || url.protocol !== 'https:' && !isLoopback(url.hostname)) {
    throw new HeddleError('invalid', `${namesOf('jwtKeys')}: ${place} must begin with https://, ` +
      'or lead to this machine.')
  }
  return createRemoteJWKSet(url, {
    [customFetch]: async (address, options) => {
      try {
        return await fetch(address, options)
      } catch (error) {
        throw cannotFetch(error)
      }
    },
  })
}

/** Throws `unauthenticated` if a claim about the user is missing or malformed. */
function loginOf({ sub, exp, tenant, role = 'developer', region }: JWTPayload): Login {
  const known = callerRoles.find((each) => each === role)
  if (typeof sub !== 'string' || sub === '') throw refused('it names no user in the claim "sub"')
  if (typeof tenant !== 'string' || !isTenant(tenant)) {
    throw refused('it names no tenant in the claim "tenant"')
  }
  if (known === undefined) throw refused(`the claim "role" is none of ${callerRoles.join(', ')}`)
  return { tenant, userId: sub, role: known, expiresAtMs: exp! * 1_000,
    region: typeof region === 'string' ? region : undefined }
}

/** Reason for which a token is refused, in words that reveal nothing of it. */
function refusalOf(error: unknown): HeddleError {
  if (error instanceof CodedError) return HeddleError.from(error)
  if (error instanceof errors.JWTExpired) return refused('it has expired')
  if (error instanceof errors.JWTClaimValidationFailed) {
    return refused(`its claim "${error.claim}" is missing, or not as expected`)
  }
  const code = memberOf(error, 'code')
  if (code === 'ERR_JOSE_GENERIC' || code === 'ERR_JWKS_INVALID') return cannotFetch(error)
  return refused('its signature is not valid')
}

function refused(why: string): HeddleError {
  return new HeddleError('unauthenticated', `This token is not valid here: ${why}.`)
}

function cannotFetch(cause: unknown): HeddleError {
  return new HeddleError('unavailable', 'The keys that tokens are signed with cannot be ' +
    'fetched right now; try again.', {}, { cause })
}
