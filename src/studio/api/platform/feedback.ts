/** Calls about feedback on spans. */

import { queryOptions } from '@tanstack/react-query'

import type { Feedback } from '../../../api/index.ts'
import { after } from '../../env.ts'
import { ask } from '../ask.ts'

/** The key of a thumb up or down. */
export const thumbKey = 'user_score'

/** Feedback as somebody gives it. */
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
    queryFn: ({ signal }) => ask('GET /api/v1/feedback', { query: { run: [runId] }, signal }),
  })

/** Gives feedback on a span, or on a run of this server. */
export const giveFeedback = ({ runId, traceId, key, score, comment }: GivenFeedback) =>
  ask('POST /api/v1/feedback', {
    body: { run_id: runId, trace_id: traceId ?? runId, key, score, feedback_source: { type: 'app' },
      ...comment !== undefined && { comment } },
  })

/** Deletes one feedback by its id. */
export const deleteFeedback = (id: string) => ask('DELETE /api/v1/feedback/:id', { params: { id } })

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
    const run = [...new Set(some.map(({ runId }) => runId))]
    try {
      const found = await ask('GET /api/v1/feedback', { query: { key: [thumbKey], run } })
      for (const { runId, done } of some) done(found.find((one) => one.run_id === runId) ?? null)
    } catch (error) {
      for (const { failed } of some) failed(error)
    }
  }
}
