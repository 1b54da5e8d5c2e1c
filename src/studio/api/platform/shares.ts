/** Links with which anybody reads a trace, and what is read with them. */

import { queryOptions } from '@tanstack/react-query'

import { ask } from '../ask.ts'
import { studioUrl } from '../place.ts'
import { headFields, spanFields } from './traces.ts'
import type { Span, SpanHead, SpanPage } from './traces.ts'

/** The token of a trace; null if it is not shared. */
export const shareQuery = (traceId: string) =>
  queryOptions({
    queryKey: ['shares', traceId],
    queryFn: async ({ signal }) =>
      (await ask('GET /api/v1/runs/:id/share', { params: { id: traceId }, signal }))
        ?.share_token ?? null,
  })

/** Shares a trace. Resolves with its token. */
export const shareTrace = async (traceId: string) =>
  (await ask('PUT /api/v1/runs/:id/share', { params: { id: traceId }, body: {} })).share_token

/** Takes the link of a trace back. */
export const unshareTrace = (traceId: string) =>
  ask('DELETE /api/v1/runs/:id/share', { params: { id: traceId } })

/** Address at which anybody reads the trace that a token names. */
export const sharedUrl = (token: string): string => new URL(`public/${token}`, studioUrl).href

/** All spans that a token names, without their payloads; 1 000 at most of a conversation. */
export const sharedSpans = async (token: string, signal?: AbortSignal) =>
  await ask('POST /api/v2/public/:token/runs/query', { params: { token }, signal,
    body: { selects: headFields, page_size: 1_000 } }) as SpanPage<SpanHead>

/** A span that a token names, with its payloads; null if there is none. */
export const sharedSpanQuery = (token: string, spanId: string) =>
  queryOptions({
    queryKey: ['shared', token, spanId],
    queryFn: async ({ signal }) => {
      const { items: [span] } = await ask('POST /api/v2/public/:token/runs/query', {
        params: { token },
        signal,
        body: { selects: spanFields, ids: [spanId] },
      })
      return span === undefined ? null : span as Span
    },
    staleTime: 60_000,
  })
