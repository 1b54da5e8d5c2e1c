/** Tokens of feedback: links with which anyone may give one kind of feedback on one span. */

import { hash } from 'node:crypto'

import type { FeedbackToken as FeedbackTokenJson } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import type { FeedbackToken } from '../../spans/feedback-port.ts'
import type { Uuid } from '../../spans/span.ts'
import { readTimeUs, zonedTextUs } from '../../spans/time.ts'
import { readUuid, uuidOfBytes } from '../../../uuid-bytes.ts'

/** Number of times that a token may be used. */
export const tokenUsesMax = 20
/** Pieces of feedback of one key on one span, by any caller, above which tokens give no more. */
export const tokenRowsMax = 200

/** Milliseconds that a token lives, by default and at most. */
const [livesMs, livesMsMax] = [3 * 3_600_000, 366 * 86_400_000]

/** Hexadecimal digits of a token's hash in the ids of its feedback. */
const tagLength = 8

const units = { days: 86_400_000, hours: 3_600_000, minutes: 60_000 } as const

/** Values with which a token is made. */
export interface TokenParts {
  readonly tenant: string
  readonly nowMs: number
  readonly id: string
  /** The token itself. Only its hash is kept. */
  readonly secret: string
}

/** A token of 128 random bits, as a UUID: the client for Python refuses all other texts. */
export function tokenText(secret: string): string {
  return uuidOfBytes(hash('sha256', secret, 'buffer').subarray(0, 16))
}

/** The token that a body asks for. Throws `invalid`. */
export function tokenOf(body: unknown, { tenant, nowMs, id, secret }: TokenParts): FeedbackToken {
  if (!isObject(body)) throw new HeddleError('invalid', 'A token is asked for with an object.')
  const { run_id: run, feedback_key: key, feedback_config: config } = body
  const span = readUuid(run)
  if (span === undefined) throw new HeddleError('invalid', 'run_id: expected a UUID.')
  if (typeof key !== 'string' || key === '' || key.length > 180) {
    throw new HeddleError('invalid', 'feedback_key: expected a text of 1 to 180 characters.')
  }
  const configJson = JSON.stringify(isObject(config) ? config : null)
  if (configJson.length > 64 * 1024) {
    throw new HeddleError('invalid', 'feedback_config: at most 64 KB of JSON.')
  }
  return { tenant, id, span, key, hash: tokenHash(secret), expiresMs: expiry(body, nowMs),
    configJson }
}

/** SHA-256 of a token, in hex. */
export function tokenHash(token: string): string {
  return hash('sha256', token)
}

/**
 * A token as clients read it. The client that makes it gets the token as its id, and its link.
 * Later reads have neither, as only the hash is kept.
 */
export function tokenJson({ id, key, expiresMs }: FeedbackToken,
  made?: { readonly token: string; readonly url: string }): FeedbackTokenJson {
  return { id: made?.token ?? id, url: made?.url ?? '', expires_at: zonedTextUs(expiresMs * 1_000),
    feedback_key: key }
}

/**
 * Id of feedback that is given with a token: its time, random digits, and the beginning of the
 * token's hash. The random digits keep ids of one millisecond apart.
 */
export function idByToken({ hash: hashed }: FeedbackToken, uuid7: string, secret: string): Uuid {
  const random = tokenText(secret)
  return `${uuid7.slice(0, 14)}7${random.slice(15, 19)}8${random.slice(20, -tagLength)}` +
    hashed.slice(0, tagLength)
}

/** True for the id of feedback that was given with the token. */
export function isByToken({ hash: hashed }: FeedbackToken, id: Uuid): boolean {
  return id.endsWith(hashed.slice(0, tagLength))
}

/** Body of the feedback that a caller gives with a token. */
export function feedbackByToken(token: FeedbackToken, given: Readonly<Record<string, unknown>>,
  id: string): Record<string, unknown> {
  const { score = null, value = null, comment = null, correction = null, metadata } = given
  return { id, run_id: token.span, key: token.key, score, value, comment, correction,
    feedback_source: { type: 'app', metadata: isObject(metadata) ? metadata : {} } }
}

function expiry({ expires_in: span, expires_at: at }: Readonly<Record<string, unknown>>,
  nowMs: number): number {
  if (at !== undefined && at !== null) {
    const us = readTimeUs(at)
    if (us === undefined) throw new HeddleError('invalid', 'expires_at: expected a time.')
    return bounded(Math.floor(us / 1_000) - nowMs, nowMs)
  }
  if (!isObject(span)) return nowMs + livesMs
  const ms = Object.entries(units).reduce((sum, [name, each]) => {
    const count = span[name]
    return sum + (typeof count === 'number' ? count * each : 0)
  }, 0)
  return bounded(ms === 0 ? livesMs : ms, nowMs)
}

function bounded(ms: number, nowMs: number): number {
  if (ms > 0 && ms <= livesMsMax) return nowMs + Math.round(ms)
  throw new HeddleError('invalid', 'A token must expire within the next 366 days.')
}
