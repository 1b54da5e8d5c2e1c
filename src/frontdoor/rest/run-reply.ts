/** The replies that a run is watched through: its events, or its result when it is over. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { HeddleError } from '../../errors.ts'
import type { RunCaller, RunName } from '../operations/index.ts'
import { answerLate } from './late-answer.ts'
import type { RouteParts } from './route.ts'
import { SseStream } from './sse.ts'

export type RunReplyParts = Pick<RouteParts, 'runs' | 'pulse'>

export interface Watched {
  readonly run: RunName
  readonly reply: FastifyReply
  /** By this very request: made again, it would be another run. */
  readonly made?: boolean
  /** Cancel the run where its client goes before the end. */
  readonly cancelOnDisconnect: boolean
}

/** The last id a client saw, and what it wants to hear. Null and null: everything. */
export interface Wish {
  readonly after: string | null
  readonly modes: readonly string[] | null
}

export const everything: Wish = { after: null, modes: null }

export function lastEventId({ headers }: FastifyRequest): string | null {
  const id = headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : null
}

export function callerOf({ headers }: FastifyRequest): RunCaller {
  return { commandId: String(headers['idempotency-key'] ?? ''), headers }
}

/** Of a request that is answered with the run's result and nothing before it. */
export function waiterOf(request: FastifyRequest): RunCaller {
  return { ...callerOf(request), awaits: true }
}

/** Where a run is found, as clients read it from a reply. */
export function placeOf({ threadId, runId }: RunName): string {
  return threadId === runId ? `/runs/${runId}` : `/threads/${threadId}/runs/${runId}`
}

/**
 * Tells the run's events until it is over. Throws what can still be answered as an error; of a run
 * that was made the headers say where it is told on.
 */
export async function streamRun(parts: RunReplyParts, watched: Watched, wish: Wish):
  Promise<void> {
  const { runs, pulse } = parts
  const { run, reply, made = false } = watched
  const { tenant } = reply.request.caller
  let unfollow = () => {}
  let gone = false
  const stream = new SseStream(reply, {
    headers: { 'content-location': placeOf(run), location: `${placeOf(run)}/stream` },
    closed: (byClient) => {
      gone = true
      pulse.remove(stream)
      unfollow()
      if (byClient) abandon(parts, watched)
    },
  })
  pulse.add(stream)
  try {
    unfollow = await runs.follow(tenant, run, wish, stream)
    stream.begin()
    if (gone) unfollow()
  } catch (error) {
    pulse.remove(stream)
    if (made && HeddleError.from(error).retry !== 'no') stream.begin()
    if (!stream.begun) throw error
    stream.leave()
  }
}

/** Answers with the run's result when it is over. */
export function answerWithResult(parts: RunReplyParts, watched: Watched): Promise<void> {
  const { runs, pulse } = parts
  const { run, reply, made = false } = watched
  const { tenant } = reply.request.caller
  return answerLate({
    reply, pulse,
    headers: { 'content-location': placeOf(run) },
    answer: made ? runs.result(tenant, run) : runs.join(tenant, run),
    settled: () => runs.get(tenant, run),
    abandoned: () => abandon(parts, watched),
  })
}

/** The client went. Nobody is left to be told how it went with the run. */
function abandon({ runs, pulse }: RunReplyParts, watched: Watched): void {
  const { run, reply, cancelOnDisconnect } = watched
  if (!cancelOnDisconnect || pulse.stopped) return
  runs.cancel(reply.request.caller.tenant, run, { action: 'interrupt' }).catch(() => {})
}
