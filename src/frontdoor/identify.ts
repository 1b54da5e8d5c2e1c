/** Finds out who asks: by an API key, by a session, or by the word of a proxy that is trusted. */

import type { FastifyRequest } from 'fastify'

import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import type { ErrorCode } from '../errors.ts'
import { isTenant } from '../records/index.ts'
import type { KeyTable } from '../records/index.ts'
import { localCaller } from './caller.ts'
import type { Finding, Identity } from './caller.ts'
import type { AddressOf } from './client-address.ts'
import { KeyBook } from './key-book.ts'
import type { KeyStats } from './key-book.ts'
import { SessionBook } from './session-book.ts'
import type { Session, SessionOptions } from './session-book.ts'

/** How callers are told apart. */
export interface AuthOptions {
  readonly keys: Pick<KeyTable, 'get' | 'touch'>
  /** The own one. */
  readonly region: string
  /** Every region, and where it answers; empty where that is not known. */
  readonly regionUrls: Readonly<Record<string, string>>
  /** Null where users have none. */
  readonly sessions: SessionOptions | null
  readonly addressOf: AddressOf
  /** Whether a request comes straight from a proxy whose word on its user counts. */
  readonly isFromTrustedProxy?: (request: FastifyRequest) => boolean
}

/** Never throws for a caller who is wrong; only where nobody can tell right now. */
export type Identify = (request: FastifyRequest) => Promise<Finding>

export interface Identification {
  readonly identify: Identify
  /** Undefined where no key is asked for. */
  keyStats(): KeyStats | undefined
}

const local: Finding = { identity: localCaller.identity, caller: localCaller }

/** Where nobody is asked who he is. */
export const asLocal: Identification = { identify: async () => local, keyStats: () => undefined }

/** Throws HeddleError with a sentence where a setting cannot work. */
export function identifyBy(options: AuthOptions, env: Env): Identification {
  const { keys, region, regionUrls, sessions, addressOf, isFromTrustedProxy = () => false } =
    options
  const book = new KeyBook({ keys, env, region, regions: Object.keys(regionUrls) })
  const sessionBook = sessions && SessionBook.open(sessions, env)
  const identify: Identify = async (request) => {
    const { key, token, userId, tenant } = credentialsIn(request)
    if (key !== undefined) {
      const found = book.find(key, () => addressOf(request).text)
      return found.then((each) => findingOfKey(each, regionUrls), refusedFor('full'))
    }
    if (token !== undefined && sessionBook !== null) {
      return await findingOfSession({ token, userId, book: sessionBook, env, region, regionUrls })
    }
    if (userId !== undefined && tenant !== undefined && isFromTrustedProxy(request)) {
      return userFinding({ tenant, userId, role: 'developer' }, () => true)
    }
    return { identity: { kind: 'nobody' }, refused: new HeddleError('unauthenticated') }
  }
  return { identify, keyStats: () => book.stats() }
}

interface Credentials {
  readonly key?: string
  readonly token?: string
  readonly userId?: string
  /** As a proxy names it. */
  readonly tenant?: string
}

/** A key wins over a session. What is blank is absent; of several values the first one counts. */
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

function findingOfKey(found: Awaited<ReturnType<KeyBook['find']>>,
  regionUrls: AuthOptions['regionUrls']): Finding {
  if (found.kind === 'elsewhere') return elsewhere(found.region, regionUrls)
  if (found.kind === 'bad') {
    const identity: Identity = { kind: 'key', hash: found.hash, known: false }
    return { identity, refused: new HeddleError('unauthenticated', found.reason) }
  }
  const { row: { tenant, role }, hash, stands } = found
  const identity: Identity = { kind: 'key', hash, known: true }
  return { identity, caller: { tenant, role, identity, stands } }
}

async function findingOfSession({ token, userId, book, env, region, regionUrls }:
Pick<AuthOptions, 'region' | 'regionUrls'> & { readonly token: string; readonly book: SessionBook
  readonly userId: string | undefined; readonly env: Env }): Promise<Finding> {
  try {
    const session = await book.read(token)
    const home = session.region ?? region
    if (home !== region) {
      if (Object.hasOwn(regionUrls, home)) return elsewhere(home, regionUrls)
      throw new HeddleError('unauthenticated', 'This session names a region that there is not.')
    }
    if (userId !== undefined && userId !== session.userId) {
      throw new HeddleError('unauthenticated', 'x-user-id does not name the user of this ' +
        'session: leave it out, or let it say the same.')
    }
    return userFinding(session, () => session.expiresAtMs > env.nowMs())
  } catch (error) {
    return refusedFor('unauthenticated')(error)
  }
}

/** For a `catch`: who is refused for this is charged all the same; anything else is thrown. */
function refusedFor(code: ErrorCode): (error: unknown) => Finding {
  return (error) => {
    const refused = HeddleError.from(error)
    if (refused.code !== code) throw error
    return { identity: { kind: 'nobody' }, refused }
  }
}

function userFinding({ tenant, userId, role }: Pick<Session, 'tenant' | 'userId' | 'role'>,
  stands: () => boolean): Finding {
  if (!isTenant(tenant)) {
    const refused = new HeddleError('unauthenticated', 'The tenant of this user has no good name.')
    return { identity: { kind: 'nobody' }, refused }
  }
  const identity: Identity = { kind: 'user', tenant, id: userId }
  return { identity, caller: { tenant, role, identity, stands } }
}

/** Whose home is another region: nothing of his is looked up or written down here. */
function elsewhere(region: string, urls: AuthOptions['regionUrls']): Finding {
  const url = urls[region]
  const refused = new HeddleError('forbidden', 'This API key or session belongs to the region ' +
    `${region}: call ${url || 'it there'}.`, url ? { url } : {})
  return { identity: { kind: 'nobody' }, refused }
}
