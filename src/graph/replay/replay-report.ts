/** Report of the calls of one replay, as its worker makes it. Plain data. */

import { isObject, valueIn } from '../../json/index.ts'
import type { RecordedSite } from '../recording/recording.ts'
import type { ModelTokens } from './model-tokens.ts'

/** Place of a call, without its attempt. */
export type CallSite = Pick<RecordedSite, 'step' | 'nodes'>

/** A call, with the part of its body that differs. */
export interface ShownCall {
  /** Null outside of nodes. */
  readonly site: CallSite | null
  readonly method: string
  readonly url: string
  readonly text: string
}

/**
 * call      a call that no recorded one answers; without `recorded` it is a new one
 * connects  a connection that is no HTTP call
 * items     long-term memory, which recordings do not have
 */
export type ReplayStop =
  | { readonly kind: 'call'; readonly asked: ShownCall; readonly recorded: ShownCall | null }
  | { readonly kind: 'connects'; readonly to: string }
  | { readonly kind: 'items' }

/** A call that was answered by one of another node. */
export interface MovedCall {
  readonly from: CallSite | null
  readonly to: CallSite | null
}

/** The calls of one replayed execution. */
export interface ReplayReport {
  /** Calls that were answered. */
  readonly answered: number
  readonly moved: readonly MovedCall[]
  /** Recorded calls that were not made. */
  readonly missing: readonly ShownCall[]
  /** Tokens of all recorded calls, and of those that were answered. */
  readonly recordedTokens: readonly ModelTokens[]
  readonly tokens: readonly ModelTokens[]
  /** Reason for which it was stopped; null if it went to its end. */
  readonly stop: ReplayStop | null
}

/** Moved and missing calls that a report lists. */
export const listedMax = 50

/** Characters of a report, and of one text in it. */
const [reportMax, textMax] = [1024 * 1024, 4096]

/** Reads a report, which user code could have written. Undefined if it is none. */
export function reportIn(text: string): ReplayReport | undefined {
  if (text.length > reportMax) return undefined
  try {
    const report = valueIn(text)
    return isReport(report) ? report : undefined
  } catch {
    return undefined
  }
}

function isReport(value: unknown): value is ReplayReport {
  return isObject(value) && Number.isSafeInteger(value['answered'])
    && isListed(value['moved'], (each) => isSite(each['from']) && isSite(each['to']))
    && isListed(value['missing'], isShown) && isListed(value['recordedTokens'], isTokens)
    && isListed(value['tokens'], isTokens) && isStop(value['stop'])
}

function isStop(value: unknown): boolean {
  if (value === null) return true
  if (!isObject(value)) return false
  const { kind, asked, recorded, to } = value
  if (kind === 'items') return true
  if (kind === 'connects') return isShort(to)
  return kind === 'call' && isObject(asked) && isShown(asked)
    && (recorded === null || (isObject(recorded) && isShown(recorded)))
}

type Members = Readonly<Record<string, unknown>>

function isListed(value: unknown, is: (each: Members) => boolean): boolean {
  return Array.isArray(value) && value.length <= listedMax
    && value.every((each: unknown) => isObject(each) && is(each))
}

function isShown({ site, method, url, text }: Members): boolean {
  return isSite(site) && isShort(method) && isShort(url) && isShort(text)
}

function isTokens({ model, input, output, cacheRead, cacheCreation }: Members): boolean {
  return isShort(model) &&
    [input, output, cacheRead, cacheCreation].every((count) =>
      Number.isSafeInteger(count) && count as number >= 0
    )
}

function isSite(value: unknown): boolean {
  if (value === null) return true
  if (!isObject(value)) return false
  const { step, nodes } = value
  return Number.isSafeInteger(step) && Array.isArray(nodes) && nodes.length <= listedMax
    && nodes.every(isShort)
}

function isShort(value: unknown): boolean {
  return typeof value === 'string' && value.length <= textMax
}
