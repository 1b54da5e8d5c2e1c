/** Target of a redirected call, and the request that is sent there. Pure. */

import { CodedError, HeddleError } from '../errors.ts'
import { textAt } from '../json/index.ts'
import { closedRanges } from './address-rules.ts'
import { hostOf } from './url-rules.ts'

/** Request of one hop of a call. */
export interface Hop {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Made when it is sent; undefined if nothing has to be sent any more. */
  readonly body?: (() => Promise<string | undefined>) | undefined
}

/** Status and target of an answer that redirects. */
export interface Redirect {
  readonly status: number
  readonly target: string
}

/** Redirects that one try follows. */
export const redirectsMax = 3

/** Headers that another origin gets too. All others may be secrets of the first. */
const plainHeaders = new Set(['content-type', 'user-agent', 'accept', 'idempotency-key',
  'x-heddle-delivery'])

const redirects = new Set([301, 302, 303, 307, 308])

/**
 * Target of the answer's redirect, not checked yet; undefined if it does not redirect. Throws
 * `forbidden`.
 */
export function targetOf({ url }: Hop, status: number, location: unknown): string | undefined {
  if (!redirects.has(status) || typeof location !== 'string') return undefined
  const target = URL.parse(location, url.href)
  if (target === null) throw new HeddleError('forbidden', 'It redirects to what is no URL.')
  if (url.protocol === 'https:' && target.protocol === 'http:') {
    throw new HeddleError('forbidden', 'It redirects from https to http: that is not followed.')
  }
  return target.href
}

/**
 * The error of a redirect that could not be followed. An endpoint writes the address itself, and
 * could write a key into it that it was called with: nothing of it is repeated.
 */
export function redirectFault(error: unknown, target: string): HeddleError {
  const { code, message } = HeddleError.from(error)
  const host = hostIn(target)
  // Our own words, as of an answer that took too long.
  if (error instanceof CodedError && !message.includes(host)) return HeddleError.from(error)
  if (code === 'invalid' || code === 'forbidden') {
    const what = closedRanges.find(([, each]) => message.includes(` is ${each}`))?.[1]
    return new HeddleError('forbidden', what === undefined
      ? 'it redirects to an address that must not be called'
      : `it redirects to an address that is ${what}: it is not called`)
  }
  const named = textAt(error, 'code')
  const why = named !== undefined && /^[A-Z][A-Z0-9_]{1,40}$/.test(named) ? ` (${named})` : ''
  return new HeddleError('unavailable', `it redirects to an address that cannot be reached${why}`)
}

/** Host of a URL as messages name it; for no URL the empty text, which every message contains. */
function hostIn(target: string): string {
  const url = URL.parse(target)
  return url === null ? '' : hostOf(url)
}

/** The next hop, to a target that may be called. Only 303 changes the method. */
export function redirected(hop: Hop, status: number, url: URL): Hop {
  const headers = url.origin === hop.url.origin ? hop.headers : Object.fromEntries(
    Object.entries(hop.headers).filter(([name]) => plainHeaders.has(name.toLowerCase())),
  )
  if (status !== 303) return { ...hop, url, headers }
  const { 'content-type': _, ...rest } = headers
  return { method: 'GET', url, headers: rest, body: undefined }
}
