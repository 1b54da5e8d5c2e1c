/** The answer to an HTTP call as its receipt, and the hash of the call. Pure. */

import { isObject } from '../../json/index.ts'
import type { AnswerHead, Call, CallAnswer } from '../calls/call.ts'
import { hiddenChunks } from '../recording/hidden-bytes.ts'
import type { HideSecrets } from '../recording/hidden-bytes.ts'
import { recordedUrl } from '../recording/recorded-url.ts'

/** A receipt as JSON: the bytes of the body as they were on the wire. */
export interface CallReceipt {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

const keptHeaders = new Set(['content-type', 'content-encoding', 'content-length', 'location',
  'request-id', 'x-request-id', 'retry-after'])

/** Characters of a body that a person is shown. */
const shownMax = 16 * 1024

/** True if a call with this status is over: a repetition would get the same answer. */
export function isFinal(status: number): boolean {
  return status < 500 && ![408, 409, 425, 429].includes(status)
}

/** The receipt of an answer that is over. */
export function receiptOf({ status, headers }: AnswerHead,
  chunks: readonly Uint8Array[]): CallReceipt {
  return { status, headers: headers.filter(([name]) => keptHeaders.has(name)),
    body: Buffer.concat(chunks).toString('base64') }
}

/** The answer that a receipt gives to the client. */
export function answerOf({ status, headers, body }: CallReceipt): CallAnswer {
  return { head: { status, statusText: '', headers }, body: [Buffer.from(body, 'base64')] }
}

/** The text without ids and times: of the day, or in seconds or milliseconds since 1970. */
function masked(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '*')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?/g, '*')
    .replace(/\b1\d{12}\b|\b1\d{9}\b/g, '*')
}

/** The input of the effect: ids and times that are new in each attempt are no part of it. */
export function inputOf({ method, url }: Call, body: Uint8Array): object {
  const text = Buffer.from(body).toString()
  return { method, url: masked(url), body: parsed(masked(text)) }
}

/** The operation of a call: its method and its URL without the query, ids and times. */
export function targetOf({ method, url }: Pick<Call, 'method' | 'url'>): string {
  return `${method} ${masked(url.split(/[?#]/)[0]!)}`
}

/** The call as a person is shown it, without secrets. */
export function shownCall({ method, url }: Call, body: Uint8Array, hide: HideSecrets): object {
  const [hidden = body] = hiddenChunks([body], hide)
  const text = Buffer.from(hidden).toString()
  return { method, url: recordedUrl(url, hide),
    body: text.length > shownMax ? `${text.slice(0, shownMax)}…` : parsed(text) }
}

/** The receipt of a call that a person says was done: 200 with the result as its body, or none. */
export function saidReceipt(result: unknown): CallReceipt {
  if (result === null) return { status: 200, headers: [], body: '' }
  const [type, text] = typeof result === 'string'
    ? ['text/plain; charset=utf-8', result]
    : ['application/json', JSON.stringify(result)]
  return { status: 200, headers: [['content-type', type]],
    body: Buffer.from(text).toString('base64') }
}

/** True if two results of one key are not the same, whatever ids and times are in them. */
export function differs(first: unknown, second: unknown): boolean {
  return comparable(first) !== comparable(second)
}

function comparable(result: unknown): string {
  if (!isObject(result) || typeof result['body'] !== 'string' || !('status' in result)) {
    return masked(JSON.stringify(result) ?? 'null')
  }
  // Each answer has headers of its own, as the id of its request.
  return `${String(result['status'])} ${masked(Buffer.from(result['body'], 'base64').toString())}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
