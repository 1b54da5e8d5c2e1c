/** Links with which anybody reads a trace, and what is read with them. */

import { queryOptions } from '@tanstack/react-query'

import { ask, post, send } from '../client.ts'
import { studioUrl } from '../place.ts'
import { headFields, spanFields } from './traces.ts'
import type { Span, SpanHead, SpanPage } from './traces.ts'

const shareOf = (traceId: string) => `/api/v1/runs/${traceId}/share`

/** The token of a trace; null if it is not shared. */
export const shareQuery = (traceId: string) =>
  queryOptions({
    queryKey: ['shares', traceId],
    queryFn: async ({ signal }) =>
      (await ask<{ readonly share_token: string } | null>(shareOf(traceId), { signal }))
        ?.share_token ?? null,
  })

/** Shares a trace. Resolves with its token. */
export const shareTrace = async (traceId: string) =>
  (await ask<{ readonly share_token: string }>(shareOf(traceId), { method: 'PUT', body: {} }))
    .share_token

/** Takes the link of a trace back. */
export const unshareTrace = (traceId: string) => send(shareOf(traceId), { method: 'DELETE' })

/** Address at which anybody reads the trace that a token names. */
export const sharedUrl = (token: string): string => new URL(`public/${token}`, studioUrl).href

/** All spans that a token names, without their payloads; 1 000 at most of a conversation. */
export const sharedSpans = (token: string, signal?: AbortSignal) =>
  post<SpanPage<SpanHead>>(`/api/v2/public/${token}/runs/query`, { selects: headFields,
    page_size: 1_000 }, signal)

/** A span that a token names, with its payloads; null if there is none. */
export const sharedSpanQuery = (token: string, spanId: string) =>
  queryOptions({
    queryKey: ['shared', token, spanId],
    queryFn: async ({ signal }) =>
      (await post<SpanPage<Span>>(`/api/v2/public/${token}/runs/query`, { selects: spanFields,
        ids: [spanId] }, signal)).items[0] ?? null,
    staleTime: 60_000,
  })
