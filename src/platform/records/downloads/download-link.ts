/**
 * Links to attachments. Whoever has one may read the file for ten minutes, without a key. A link is
 * a signed text of what it names: nothing is kept of it.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'

import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import type { Uuid } from '../../spans/span.ts'

/** The file that a link names. */
export interface DownloadClaim {
  readonly tenant: string
  readonly kind: 'example' | 'span'
  /** Of an example: its dataset and itself. Of a span: itself. */
  readonly ids: readonly Uuid[]
  /** Name of the attachment. */
  readonly name: string
  /** Media type as the client gave it. */
  readonly type: string
  /** Under which it is kept; empty for spans. */
  readonly key: string
  readonly bytes: number
}

/** What links are signed with. */
export interface LinkKey {
  readonly secret: string
  /** When links that are made now end, in seconds since 1970. */
  readonly expiresS: number
  /** What stands before the path of a link, as `https://host/api/v1`; by default nothing. */
  readonly base?: string
}

/** Seconds for which a link is good. */
export const linkSeconds = 600
/** Characters of a token. */
const tokenMax = 4_096
const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')

/** The link. Without a base it is relative to the root of the platform. */
export function linkOf({ secret, expiresS, base = '' }: LinkKey, claim: DownloadClaim): string {
  const body = Buffer.from(JSON.stringify({ ...claim, exp: expiresS })).toString('base64url')
  const text = `${header}.${body}`
  return `${base}/public/download?jwt=${text}.${signature(secret, text)}`
}

/**
 * When a token ends, in seconds since 1970: by that it is known what signed it. Throws `not_found`
 * if it has ended, or ends later than any that is made now.
 */
export function endOfLink(token: string, nowMs: number): number {
  const { exp } = claimIn(token)
  if (exp * 1_000 < nowMs || exp * 1_000 > nowMs + 2_000 * linkSeconds) throw noLink()
  return exp
}

/** What a token names. Throws `not_found` if it was not signed so, or its time is over. */
export function readLink(token: string, secret: string, nowMs: number): DownloadClaim {
  const { exp, ...claim } = claimIn(token)
  const end = token.lastIndexOf('.')
  const [given, right] = [token.slice(end + 1), signature(secret, token.slice(0, end))]
    .map((text) => Buffer.from(text!))
  const isRight = given!.length === right!.length && timingSafeEqual(given!, right!)
  if (!isRight || exp * 1_000 < nowMs) throw noLink()
  return claim
}

function claimIn(token: string): DownloadClaim & { readonly exp: number } {
  const [first, body = ''] = token.length > tokenMax ? [] : token.split('.')
  try {
    const claim: unknown = JSON.parse(Buffer.from(body, 'base64url').toString())
    if (first === header && isObject(claim) && typeof claim['exp'] === 'number') {
      return claim as unknown as DownloadClaim & { readonly exp: number }
    }
  } catch {
    // It is no token of ours.
  }
  throw noLink()
}

function signature(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url')
}

function noLink(): HeddleError {
  return new HeddleError('not_found', 'This link is unknown, or its time is over.')
}
