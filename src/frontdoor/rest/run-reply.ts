/** Replies that watch a run: a stream of its events, or its result when it has ended. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { CreateRun, JoinQuery, StreamQuery } from '../../api/index.ts'
import type { AwaitedRun, WatchRun } from '../../thread/index.ts'
import { outerPath, requireAllowed, userOf } from '../http/caller.ts'
import { whileValid } from '../http/credential-check.ts'
import { whenClosed } from '../http/ending.ts'
import { answerLate } from '../http/late-answer.ts'
import { sendJson } from '../http/list-reply.ts'
import { runJson } from '../http/render.ts'
import type { RouteParts } from '../http/route.ts'
import { feedbackKeysOf, nameOf, revisionHeader } from '../operations/index.ts'
import type { RunCaller, RunName } from '../operations/index.ts'
import { requireOwnPage } from './fetch-site.ts'
import { SseStream } from './sse.ts'
import type { SseOptions } from './sse.ts'

/** The parts of routes that replies about runs use. */
export type RunReplyParts = Pick<RouteParts,
  'runs' | 'ticker' | 'quotas' | 'feedbackLinks' | 'streamEnd'>

/** A run that a request watches, and how. */
export interface Watched {
  readonly run: RunName
  readonly reply: FastifyReply
  /** True if this request made the run: a repeated request would make another one. */
  readonly made?: boolean
  /** The result of a run that this request made; otherwise the run is joined. */
  readonly result?: AwaitedRun['result']
  /** True if the run is cancelled when the client leaves before the end. */
  readonly cancelOnDisconnect: boolean
  /** Kinds of feedback that the stream ends with links for; none by default. */
  readonly feedbackKeys?: readonly string[] | undefined
}

type MakingBody = Pick<CreateRun, 'on_disconnect' | 'feedback_keys'>

/** The watch of a request that made the run. */
export function madeBy({ body }: { readonly body: MakingBody }, row: RunRow,
  reply: FastifyReply): Watched {
  return { run: nameOf(row), made: true, reply, feedbackKeys: feedbackKeysOf(body),
    cancelOnDisconnect: body.on_disconnect === 'cancel' }
}

/** For a request that made the run and waits for its result. */
export function awaitedBy(request: { readonly body: MakingBody }, { row, result }: AwaitedRun,
  reply: FastifyReply): Watched {
  return { ...madeBy(request, row, reply), result }
}

/** Follows a run that the request made from its first event, in all stream modes. */
export function fromTheStart({ query }: { readonly query: StreamQuery }): WatchRun {
  const { namespace: namespaces } = query
  return { after: null, modes: null, ...namespaces && { namespaces } }
}

/** Follows a run from where the client left off. */
export function fromWhereItLeft(
  request: FastifyRequest & { readonly query: JoinQuery },
): WatchRun {
  const { stream_mode: modes = null, checkpoint_id: checkpointId } = request.query
  return { ...fromTheStart(request), after: lastEventId(request), modes,
    ...checkpointId !== undefined && { checkpointId } }
}

/** The id of the last event that the client saw; null if it saw none. */
export function lastEventId({ headers }: FastifyRequest): string | null {
  const id = headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : null
}

/**
 * The caller of a run, with its Idempotency-Key (empty if there is none) and its headers. The reply
 * gets a header with what the run does not do.
 */
export function runCallerOf({ id: requestId, headers, caller }: FastifyRequest,
  reply?: FastifyReply): RunCaller {
  const userId = userOf(caller)
  const revision = headers[revisionHeader]
  return { commandId: String(headers['idempotency-key'] ?? ''), userId, requestId, headers,
    graphHeaders: caller.graphHeaders, ...typeof revision === 'string' && { revision },
    ...reply && { warn: (faults) => void reply.header('x-heddle-warning', warningOf(faults)) } }
}

/** The caller of a request that follows the run. */
export function followerOf(request: FastifyRequest, reply: FastifyReply): RunCaller {
  return { ...runCallerOf(request, reply), follows: true }
}

/** The caller of a request that gets only the result of the run. */
export function waiterOf(request: FastifyRequest, reply: FastifyReply): RunCaller {
  return { ...runCallerOf(request, reply), awaits: true }
}

/** Characters of a warning: clients bound all headers together, some by 8 KB. */
const warningMax = 1_000

/** In the characters that a header may have. Others are written as JSON escapes them. */
function warningOf(faults: Parameters<NonNullable<RunCaller['warn']>>[0]): string {
  return faults.map(({ field, message }) => `${field} ${message}`).join('; ')
    .slice(0, warningMax)
    .replace(/[^\x20-\x7e]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Answers a request that made a run in the background. */
export function sendRun(reply: FastifyReply, row: RunRow): ReturnType<typeof sendJson> {
  const run = nameOf(row)
  reply.request.about = run
  return sendJson(reply.header('content-location', placeOf(reply.request, run)), runJson(row))
}

/** The path of a run. Clients read it from a reply. */
function placeOf(request: FastifyRequest, { threadId, runId }: RunName): string {
  return outerPath(request,
    threadId === runId ? `/runs/${runId}` : `/threads/${threadId}/runs/${runId}`)
}

/**
 * Counts a stream of the caller, or a request that waits for a run, until the reply has ended. Call
 * before the run is made. Throws `over_quota`.
 */
export function holdStream({ quotas }: Pick<RunReplyParts, 'quotas'>, reply: FastifyReply): void {
  const stream = quotas.stream(reply.request.caller.tenant)
  whenClosed(reply.raw, () => stream[Symbol.dispose]())
}

/** Streams the run's events until it has ended. Throws only if an error can still be answered. */
export async function followRun(parts: RunReplyParts, watched: Watched,
  options: WatchRun): Promise<FastifyReply> {
  const { runs, ticker } = parts
  const { run, reply, made = false } = watched
  reply.request.about = run
  const { caller } = reply.request
  await mayWatch(parts, watched)
  if (!made) holdStream(parts, reply)
  const abandon = abandoned(parts, watched)
  let unfollow = () => {}
  let gone = false
  const place = placeOf(reply.request, run)
  const stream = new SseStream(reply, {
    headers: { 'content-location': place, location: `${place}/stream` },
    made,
    feedback: feedbackOf(parts, watched),
    hasEnd: parts.streamEnd,
    stillValid: caller.stillValid,
    closed: (byClient) => {
      gone = true
      ticker.remove(stream)
      unfollow()
      if (byClient) abandon()
    },
  })
  ticker.add(stream, { kind: 'sse', runId: run.runId })
  try {
    unfollow = await runs.follow(caller, run, { ...options, made }, stream)
    stream.begin()
    if (gone) unfollow()
  } catch (error) {
    ticker.remove(stream)
    if (!stream.begun) throw error
    stream.leave()
  }
  return reply
}

/** Makes the links that a stream ends with; undefined if nobody asked for any. */
function feedbackOf({ feedbackLinks }: RunReplyParts,
  { run: { runId }, reply: { request }, feedbackKeys: keys }: Watched): SseOptions['feedback'] {
  if (keys === undefined || feedbackLinks === undefined) return undefined
  const { protocol, host, caller: { tenant } } = request
  const root = `${protocol}://${host}${outerPath(request, '/api/v1')}`
  return async () => {
    const links = await feedbackLinks({ tenant, runId, keys, root })
    return links && JSON.stringify(links)
  }
}

/** Answers with the run's result when it has ended. */
export async function answerWithResult(parts: RunReplyParts,
  watched: Watched): Promise<FastifyReply> {
  const { runs, ticker } = parts
  const { run, reply, made = false } = watched
  reply.request.about = run
  const { caller } = reply.request
  const { result = (cancelled) => runs.join(caller, run, cancelled) } = watched
  await mayWatch(parts, watched)
  if (!made) holdStream(parts, reply)
  await answerLate({
    reply,
    ticker,
    runId: run.runId,
    headers: { 'content-location': placeOf(reply.request, run) },
    answer: (left) => whileValid({ caller, ticker, left, ask: result }),
    settled: () => runs.settled(caller, run),
    abandoned: abandoned(parts, watched),
  })
  return reply
}

/** Throws `forbidden`. A GET that cancels its run on leaving is a change. */
async function mayWatch({ runs }: RunReplyParts,
  { run, made = false, reply: { request }, cancelOnDisconnect }: Watched): Promise<void> {
  requireAllowed(request.caller, cancelOnDisconnect ? 'change' : 'read')
  if (cancelOnDisconnect && request.method === 'GET') requireOwnPage(request)
  if (cancelOnDisconnect && !made) await runs.mayCancel(request.caller, run, {})
}

/**
 * Returns a function that cancels the run if its request specifies that. Call it when the response
 * starts. No client is left to receive an error.
 */
function abandoned({ runs, ticker }: RunReplyParts, watched: Watched): () => void {
  const { run, reply, cancelOnDisconnect } = watched
  const cancel = runs.abandoner(reply.request.caller, run)
  return () => {
    if (cancelOnDisconnect && !ticker.stopped) cancel().catch(() => {})
  }
}
