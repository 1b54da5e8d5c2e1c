/**
 * Links to attachments. Anyone with a link may read its file for ten minutes, without a key. A link
 * is a signed text that names the file, so nothing of it is stored.
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
  /** Key under which the file is stored; empty for spans. */
  readonly key: string
  readonly bytes: number
}

/** Secret and end of links that are made now. */
export interface LinkKey {
  readonly secret: string
  /** Time at which links that are made now end, in seconds since 1970. */
  readonly expiresS: number
  /** Text before the path of a link, such as `https://host/api/v1`; empty by default. */
  readonly base?: string
}

/** Seconds for which a link is valid. */
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
 * End of a token, in seconds since 1970, which tells the secret that signed it. Throws `not_found`
 * if it has ended, or ends later than any link that is made now.
 */
export function endOfLink(token: string, nowMs: number): number {
  const { exp } = claimIn(token)
  if (exp * 1_000 < nowMs || exp * 1_000 > nowMs + 2_000 * linkSeconds) throw noLink()
  return exp
}

/** File that a token names. Throws `not_found` if its signature is wrong, or its time is over. */
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
