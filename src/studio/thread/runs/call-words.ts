/** Recorded calls in words, and their sums by host. Pure. */

import type { RunCall } from '../../api/platform/run-calls.ts'

/** The calls of one host together. */
export interface HostSum {
  readonly host: string
  readonly calls: number
  readonly sentBytes: number
  readonly gotBytes: number
  readonly ms: number
  /** Calls that repeat one of the same node which had failed. */
  readonly retries: number
}

/** Sums by host, those that took most time first. */
export function sumsOf(calls: readonly RunCall[]): readonly HostSum[] {
  const retried = new Set(retriesIn(calls))
  return [...Map.groupBy(calls, ({ url }) => hostOf(url))].map(([host, own]) => ({
    host,
    calls: own.length,
    sentBytes: sum(own, (call) => call.request_bytes),
    gotBytes: sum(own, (call) => call.answer_bytes),
    ms: sum(own, (call) => call.ms),
    retries: own.filter((call) => retried.has(call)).length,
  })).toSorted((a, b) => b.ms - a.ms)
}

/** True for a call whose answer is none: a client may make it again. */
export function isFailed({ status, end }: RunCall): boolean {
  return status === null ? end !== 'open' : status >= 400 || end === 'reset' || end === 'timed_out'
}

const ends: Readonly<Record<RunCall['end'], string>> = { done: 'done', refused: 'no connection',
  timed_out: 'timed out', reset: 'cut off', aborted: 'given up', open: 'still open' }

/** Words for how a call ended: `200`, `timed out`, `200, cut off`. */
export function endWords({ status, end }: RunCall): string {
  if (status === null) return ends[end]
  return end === 'done' ? String(status) : `${status}, ${ends[end]}`
}

/** The host of a URL, with its port. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url
}

/** The path of a URL, with its query. */
export function pathOf(url: string): string {
  const { pathname = url, search = '' } = URL.parse(url) ?? {}
  return pathname + search
}

function retriesIn(calls: readonly RunCall[]): readonly RunCall[] {
  const failed = new Set<string>()
  return calls.filter((call) => {
    const { method, url, site, request_bytes: bytes } = call
    const request = JSON.stringify([site, method, url, bytes])
    const isRetry = failed.delete(request)
    if (isFailed(call)) failed.add(request)
    return isRetry
  })
}

function sum(calls: readonly RunCall[], of: (call: RunCall) => number): number {
  return calls.reduce((all, call) => all + of(call), 0)
}
