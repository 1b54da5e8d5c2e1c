/** Errors of the endpoint of a model, each with a message that a person can act on. Pure. */

import type { Unanswered } from '../../../egress/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'

/** Characters of what an endpoint says that are given on. */
const messageMax = 500
/** Seconds to wait after a failure that passes, if the endpoint does not say. */
const waitSeconds = 1
/** Seconds that an endpoint may ask to wait. */
const longestWaitSeconds = 3_600

/** The error of a call that nothing answered, or that may not be made. */
export function unansweredError({ kind, reason }: Unanswered): HeddleError {
  const message = `The endpoint of the model cannot be called: ${reason}`
  if (kind === 'refused') return new HeddleError('model_failed', withStop(message))
  return new HeddleError('model_failed', withStop(message), { retryAfterSeconds: waitSeconds })
}

/** The error of an answer that broke off. */
export function brokenError(reason: string): HeddleError {
  return new HeddleError('model_failed', withStop(`The answer of the model broke off: ${reason}`), {
    retryAfterSeconds: waitSeconds,
  })
}

/** The error of an answer with a status that is no success. */
export function refusedError({ status, body, retryAfterMs }: {
  readonly status: number
  /** The beginning of the body at least. */
  readonly body: string
  readonly retryAfterMs: number
}): HeddleError {
  const said = sentenceIn(body)
  const message = `The endpoint of the model answered ${status}${said === '' ? '' : `: ${said}`}`
  const seconds = Math.ceil(Math.min(retryAfterMs / 1_000, longestWaitSeconds))
  return new HeddleError('model_failed', withStop(message), { answeredStatus: status,
    ...isPassing(status) && { retryAfterSeconds: Math.max(seconds, waitSeconds) } })
}

/** The sentence in the body of an error, cut; empty if there is none for people. */
export function sentenceIn(body: string): string {
  const said = saidIn(body) ?? (/^\s*</.test(body) ? '' : body)
  const line = said.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  return line.length > messageMax ? `${line.slice(0, messageMax)}…` : line
}

function saidIn(body: string): string | undefined {
  try {
    return textOf(JSON.parse(body))
  } catch {
    return undefined
  }
}

/** The text at any of the members that endpoints have for it. */
function textOf(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return depth > 3 ? undefined : textOf(value[0], depth + 1)
  if (!isObject(value) || depth > 3) return undefined
  for (const name of ['message', 'error', 'detail', 'msg']) {
    const text = textOf(value[name], depth + 1)
    if (text !== undefined && text !== '') return text
  }
  return undefined
}

function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

function withStop(message: string): string {
  return /[.!?…]$/.test(message) ? message : `${message}.`
}
