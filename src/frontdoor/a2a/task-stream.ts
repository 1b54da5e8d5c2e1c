/**
 * The events of a task on one connection: the task, then what changes, and its last status.
 *
 * 1. A run is followed from its start. A client that comes back gets only what follows the event
 *    that it saw last: what came before is passed over, but counted, so that chunks go on where
 *    they ended.
 * 2. The task is read when its run has ended. What its results have beyond their chunks is sent
 *    before its last status.
 * 3. A stream that does not end cleanly is broken off, so that its client comes back.
 */

import type { FastifyReply } from 'fastify'

import type { FeedEnd, FeedEvent, FeedListener } from '../../thread/index.ts'
import type { RouteParts } from '../http/route.ts'
import { nameOf } from '../operations/index.ts'
import { SseStream } from '../rest/sse.ts'
import type { AgentContext } from './context.ts'
import { EventTranslation } from './event-translation.ts'
import type { Dialect } from './methods.ts'
import { textOf } from '../../raw-json.ts'
import { resultText } from '../json-rpc.ts'
import type { RpcId } from './rpc.ts'
import { standingOf } from './task-runs.ts'
import type { TaskRuns } from './task-runs.ts'
import { bare, taskView } from './task-view.ts'
import { eventJson } from './task.ts'
import type { TaskEvent } from './task.ts'

/** A stream to open. */
export interface TaskStreamRequest {
  readonly context: AgentContext
  readonly reply: FastifyReply
  readonly runs: TaskRuns
  readonly id: RpcId
  readonly dialect: Dialect
  /** True if this request made the run. */
  readonly made: boolean
  /** The last event that the client saw; undefined if it saw none. */
  readonly after?: string | undefined
  readonly nowMs: () => number
}

type StreamParts = Pick<RouteParts, 'ticker'>

/** Ids of the events before and behind those of the run. */
const [firstId, lastId] = ['-', 'end']

/** Opens the stream. Throws only if an error can still be answered. */
export async function streamTask({ ticker }: StreamParts,
  request: TaskStreamRequest): Promise<FastifyReply> {
  const { context: { runs: operations, caller }, reply, runs, made } = request
  const run = nameOf(runs.newest)
  reply.request.about = run
  let unfollow = () => {}
  let gone = false
  const sse = new SseStream(reply, {
    headers: {},
    made,
    stillValid: caller.stillValid,
    closed: () => {
      gone = true
      ticker.remove(sse)
      unfollow()
    },
  })
  ticker.add(sse, { kind: 'sse', runId: run.runId })
  try {
    const events = new TaskEvents(request, sse)
    await events.begin()
    unfollow = await operations.follow(caller, run, { after: null, modes: ['messages-tuple'],
      made }, events)
    sse.begin()
    if (gone) unfollow()
  } catch (error) {
    ticker.remove(sse)
    if (!sse.begun) throw error
    sse.leave()
  }
  return reply
}

class TaskEvents implements FeedListener {
  readonly #request: TaskStreamRequest
  readonly #sse: SseStream
  #translation: EventTranslation | undefined
  /** True while events come that the client has seen. */
  #isPast: boolean

  constructor(request: TaskStreamRequest, sse: SseStream) {
    this.#request = request
    this.#sse = sse
    this.#isPast = placeOf(request.after) !== undefined
  }

  /** Sends the task as it is. Its results come as events. */
  async begin(): Promise<void> {
    const { context, runs } = this.#request
    const task = await taskView(context, runs, bare)
    this.#translation = new EventTranslation(task)
    this.#send(firstId, [{ kind: 'task', task }])
  }

  events(batch: readonly FeedEvent[]): void {
    const { after, nowMs } = this.#request
    const frames: FeedEvent[] = []
    for (const event of batch) {
      const translated = this.#translation!.of(event, nowMs())
      if (this.#isPast && !isAfter(event.id, after)) continue
      this.#isPast = false
      frames.push(...translated.map((each) => this.#frame(event.id, each)))
    }
    if (frames.length > 0) this.#sse.events(frames)
  }

  ready(): Promise<void> | undefined {
    return this.#sse.ready()
  }

  ended(how: FeedEnd): void {
    if (how !== 'over') return this.#sse.ended(how)
    this.#end().then(() => this.#sse.ended('over'), () => this.#sse.ended('lost'))
  }

  async #end(): Promise<void> {
    const { context, runs: { first, newest: { threadId, runId } } } = this.#request
    const newest = await context.runs.get(context.caller, { threadId, runId })
    const runs = { first, newest, ...await standingOf(context, newest) }
    const task = await taskView(context, runs, { ...bare, artifacts: true })
    this.#send(lastId, this.#translation!.end(task))
  }

  #send(id: string, events: readonly TaskEvent[]): void {
    this.#sse.events(events.map((event) => this.#frame(id, event)))
  }

  #frame(eventId: string, event: TaskEvent): FeedEvent {
    const { id, dialect } = this.#request
    return { id: eventId, name: 'message', json: resultText(id, textOf(eventJson(event, dialect))) }
  }
}

/** The place in an id of an event of a run; undefined for any other. */
function placeOf(id: string | undefined): readonly [seq: number, index: number] | undefined {
  const [, seq, index] = /^(\d{1,15})\.(\d{1,10})$/.exec(id ?? '') ?? []
  return seq === undefined ? undefined : [Number(seq), Number(index)]
}

function isAfter(id: string, seen: string | undefined): boolean {
  const [a, b] = [placeOf(id), placeOf(seen)]
  if (a === undefined || b === undefined) return b === undefined
  return a[0] > b[0] || (a[0] === b[0] && a[1] > b[1])
}
