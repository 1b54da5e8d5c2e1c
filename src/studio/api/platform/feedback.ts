/** Feedback on spans, as the API has it, and the calls about it. */

import { queryOptions } from '@tanstack/react-query'

import { after } from '../../env.ts'
import { ask, post, send } from '../client.ts'

/** What somebody, or something, thought of a span. */
export interface Feedback {
  readonly id: string
  readonly key: string
  readonly run_id: string | null
  readonly score: number | boolean | null
  readonly value: unknown
  readonly comment: string | null
  readonly created_at: string
  readonly feedback_source: { readonly type?: string } | null
}

/** The key of a thumb up or down. */
export const thumbKey = 'user_score'

/** What is given. */
export interface GivenFeedback {
  readonly runId: string
  readonly traceId?: string | undefined
  readonly key: string
  readonly score: number | null
  readonly comment?: string
}

/** Feedback on a span, newest first; 100 at most. */
export const feedbackQuery = (runId: string) =>
  queryOptions({
    queryKey: ['feedback', runId],
    queryFn: ({ signal }) => ask<Feedback[]>(`/api/v1/feedback?run=${runId}`, { signal }),
  })

/** Gives feedback on a span, or on a run of this server. */
export const giveFeedback = ({ runId, traceId, key, score, comment }: GivenFeedback) =>
  post<Feedback>('/api/v1/feedback', { run_id: runId, trace_id: traceId ?? runId, key, score,
    feedback_source: { type: 'app' }, ...comment !== undefined && { comment } })

/** Deletes feedback. */
export const deleteFeedback = (id: string) => send(`/api/v1/feedback/${id}`, { method: 'DELETE' })

interface Asked {
  readonly runId: string
  readonly done: (thumb: Feedback | null) => void
  readonly failed: (error: unknown) => void
}

/** Runs of one question. More would make its address too long. */
const askedAtOnce = 50
let waiting: Asked[] = []

/** The newest thumb on a run. The messages of a chat ask for theirs in one question. */
export const thumbQuery = (runId: string) =>
  queryOptions({
    queryKey: ['thumbs', runId],
    queryFn: () =>
      new Promise<Feedback | null>((done, failed) => {
        waiting.push({ runId, done, failed })
        if (waiting.length === 1) after(20, () => void askForThumbs())
      }),
    staleTime: 60_000,
  })

async function askForThumbs(): Promise<void> {
  const asked = waiting
  waiting = []
  for (let at = 0; at < asked.length; at += askedAtOnce) {
    const some = asked.slice(at, at + askedAtOnce)
    const runs = [...new Set(some.map(({ runId }) => `run=${runId}`))].join('&')
    try {
      const found = await ask<Feedback[]>(`/api/v1/feedback?key=${thumbKey}&${runs}`)
      for (const { runId, done } of some) done(found.find((one) => one.run_id === runId) ?? null)
    } catch (error) {
      for (const { failed } of some) failed(error)
    }
  }
}
