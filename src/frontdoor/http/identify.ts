/** Authentication: by an API key, by a login, or by headers of a trusted proxy. */

import type { FastifyRequest } from 'fastify'

import type { Env } from '../../../cluster/index.ts'
import { hashOf, isTenant, KeyCache, JwtVerifier } from '../../access/index.ts'
import type { KeyStats, KeyTable, Login, LoginOptions, RunKeys } from '../../access/index.ts'
import { namespaceParts } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ErrorCode } from '../../errors.ts'
import { localCaller } from './caller.ts'
import type { Finding, Identity } from './caller.ts'
import type { AddressOf } from './connections/client-address.ts'
import { userMayNotCall } from './run-powers.ts'

/** Options of authentication: the keys, tokens and proxies by which callers are known. */
export interface AuthOptions {
  readonly keys: Pick<KeyTable, 'get' | 'touch'>
  /** Keys of runs that are executed here; by default none. */
  readonly runKeys?: Pick<RunKeys, 'find' | 'userOf'>
  /** The region of this server. */
  readonly region: string
  /** URL of every region, by name; empty if not known. */
  readonly regionUrls: Readonly<Record<string, string>>
  /** Options for checking JSON web tokens of users; null if users have none. */
  readonly sessions: LoginOptions | null
  readonly addressOf: AddressOf
  /** True for a request that comes directly from a proxy whose user header is believed. */
  readonly isFromTrustedProxy?: (request: FastifyRequest) => boolean
}

/**
 * Authenticates a request. Bad credentials are a finding; throws only if they cannot be checked.
 */
export type Identify = (request: FastifyRequest) => Promise<Finding>

/** Authentication as the front door uses it. */
export interface Identification {
  readonly identify: Identify
  /** Counts of API keys; undefined if keys are not required. */
  keyStats(): KeyStats | undefined
}

const local: Finding = { identity: localCaller.identity, caller: localCaller }

/** Used without authentication: every caller is local. */
export const asLocal: Identification = { identify: async () => local, keyStats: () => undefined }

/** Makes authentication from settings. Throws HeddleError for a setting that cannot work. */
export function identifyBy(options: AuthOptions, env: Env): Identification {
  const { keys, region, regionUrls, sessions, addressOf, isFromTrustedProxy = () => false } =
    options
  const keyCache = new KeyCache({ keys, env, region, regions: Object.keys(regionUrls) })
  const jwtVerifier = sessions && JwtVerifier.open(sessions, env)
  const identify: Identify = async (request) => {
    const { key, token, userId, tenant } = credentialsIn(request)
    const ofRun = key === undefined ? undefined : findingOfRun(key, options.runKeys)
    if (ofRun !== undefined) return ofRun
    if (key !== undefined) {
      const found = keyCache.find(key, () => addressOf(request).text)
      return found.then((each) => findingOfKey(each, regionUrls), refusedFor('full'))
    }
    if (token !== undefined && jwtVerifier !== null) {
      return await findingOfLogin({ token, userId, keyCache: jwtVerifier, env, region, regionUrls })
    }
    if (userId !== undefined && tenant !== undefined && isFromTrustedProxy(request)) {
      return userFinding({ tenant, userId, role: 'developer', expiresAtMs: null }, () => true)
    }
    return { identity: { kind: 'nobody' }, refused: new HeddleError('unauthenticated') }
  }
  return { identify, keyStats: () => keyCache.stats() }
}

/** True if a request names nobody, not even somebody unknown. */
export function bringsNothing(request: FastifyRequest): boolean {
  return Object.values(credentialsIn(request)).every((each) => each === undefined)
}

/** The API key of a request, known or not; undefined if it brings none of ours. */
export function keyIn(request: FastifyRequest): string | undefined {
  const { key } = credentialsIn(request)
  return key?.startsWith('hdl_') ? key : undefined
}

interface Credentials {
  readonly key?: string
  readonly token?: string
  readonly userId?: string
  /** Named by a proxy, or by a caller that claims to be one. */
  readonly tenant?: string
}

/**
 * Finds credentials in headers. A key wins over a token. Blank values are ignored; of several
 * values, the first counts.
 */
function credentialsIn({ headers }: FastifyRequest): Credentials {
  const bearer = /^bearer +(\S+)$/i.exec(said(headers.authorization) ?? '')?.[1]
  const bearerKey = bearer?.startsWith('hdl_') ? bearer : undefined
  return {
    key: said(headers['x-api-key']) ?? bearerKey,
    token: bearerKey === undefined ? bearer : undefined,
    userId: said(headers['x-user-id']),
    tenant: said(headers['x-tenant-id']),
  }
}

function said(value: string | string[] | undefined): string | undefined {
  return [value].flat()[0]?.trim() || undefined
}

function findingOfKey(found: Awaited<ReturnType<KeyCache['find']>>,
  regionUrls: AuthOptions['regionUrls']): Finding {
  if (found.kind === 'elsewhere') return elsewhere(found.region, regionUrls)
  if (found.kind === 'bad') {
    const identity: Identity = { kind: 'key', hash: found.hash }
    return { identity, refused: new HeddleError('unauthenticated', found.reason) }
  }
  const { row: { id, tenant, deployment, role, expiresAtMs }, hash, stillValid } = found
  const identity: Identity = { kind: 'key', hash, id }
  return { identity, caller: { tenant, deployment, role, identity, expiresAtMs, stillValid } }
}

/**
 * Finds the caller of the key of a run; undefined for any other key. A run without a user was
 * started by a developer of its namespace, so its key may change the data there. The key of a run
 * with a user is rejected, because only the login of its project knows the user. All runs of a
 * namespace share one identity, so that a run has no rate limit of its own.
 */
function findingOfRun(key: string, runKeys: AuthOptions['runKeys']): Finding | undefined {
  const namespace = runKeys?.find(key)
  if (namespace === undefined) return undefined
  const identity: Identity = { kind: 'key', hash: hashOf(`runs of ${namespace}`),
    id: `runs of ${namespace}` }
  if (runKeys?.userOf(key) !== undefined) return { identity, refused: userMayNotCall() }
  return { identity,
    caller: { ...namespaceParts(namespace), role: 'developer', isRun: true, identity,
      expiresAtMs: null, stillValid: () => runKeys?.find(key) !== undefined } }
}

async function findingOfLogin({ token, userId, keyCache, env, region, regionUrls }:
  & Pick<AuthOptions, 'region' | 'regionUrls'>
  & { readonly token: string; readonly keyCache: JwtVerifier; readonly userId: string | undefined;
    readonly env: Env }): Promise<Finding> {
  try {
    const session = await keyCache.read(token)
    const home = session.region ?? region
    if (home !== region) {
      if (Object.hasOwn(regionUrls, home)) return elsewhere(home, regionUrls)
      throw new HeddleError('unauthenticated', 'This token names a region that does not exist.')
    }
    if (userId !== undefined && userId !== session.userId) {
      throw new HeddleError('unauthenticated', 'x-user-id does not name the user of this ' +
        'token: leave it out, or let it say the same.')
    }
    return userFinding(session, () => session.expiresAtMs > env.nowMs())
  } catch (error) {
    return refusedFor('unauthenticated')(error)
  }
}

/**
 * Makes a `catch`. An error of this code becomes a refused caller, who is charged; others are
 * thrown.
 */
function refusedFor(code: ErrorCode): (error: unknown) => Finding {
  return (error) => {
    const refused = HeddleError.from(error)
    if (refused.code !== code) throw error
    return { identity: { kind: 'nobody' }, refused }
  }
}

interface KnownUser extends Pick<Login, 'tenant' | 'userId' | 'role'> {
  readonly expiresAtMs: number | null
}

function userFinding({ tenant, userId, role, expiresAtMs }: KnownUser,
  stillValid: () => boolean): Finding {
  if (!isTenant(tenant)) {
    const refused = new HeddleError('unauthenticated', 'The tenant of this user has no valid name.')
    return { identity: { kind: 'nobody' }, refused }
  }
  const identity: Identity = { kind: 'user', tenant, id: userId }
  return { identity, caller: { tenant, role, identity, expiresAtMs, stillValid } }
}

/** The finding for a caller of another region. Nothing about it is looked up or stored here. */
function elsewhere(region: string, urls: AuthOptions['regionUrls']): Finding {
  const url = urls[region]
  const refused = new HeddleError('forbidden', 'This API key or token belongs to the region ' +
    `${region}: call ${url || 'it there'}.`, url ? { url } : {})
  return { identity: { kind: 'nobody' }, refused }
}
