/**
 * A run of supersteps as one client sees it, each with the time at which its update arrived. If the
 * stream breaks, the client resumes it through the next front door where it left off.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { EventStream } from './event-stream.ts'
import type { StreamEvent, StreamRequest } from './event-stream.ts'
import { within } from './patience.ts'

export interface Seen {
  /** The number of the superstep, from 1. */
  readonly number: number
  /** The process that executed it. */
  readonly pid: number
  readonly attempt: number
  /** By performance.now(). */
  readonly atMs: number
}

export interface WatchedRunOptions {
  /** The stream goes through the first; each time it breaks, through the next. */
  readonly doors: readonly string[]
  readonly threadId?: string
  readonly steps: number
  readonly pauseMs: number
}

const reconnectMs = 30_000
const againMs = 50

export class WatchedRun {
  readonly threadId: string
  readonly seen: Seen[] = []
  /** Resolves when the stream has ended; rejects if it cannot be resumed. */
  readonly ended: Promise<void>
  /** How often the stream broke. */
  breaks = 0
  readonly #options: WatchedRunOptions
  #stream: EventStream | undefined
  #attempt = 0
  #runId = ''
  #lastId = ''
  #error = ''
  #news = Promise.withResolvers<void>()

  constructor(options: WatchedRunOptions) {
    this.#options = options
    this.threadId = options.threadId ?? randomUUID()
    this.ended = this.#watch()
    this.ended.catch(() => undefined)
  }

  get runId(): string {
    return this.#runId
  }

  /** The first update for which `is` holds. */
  async until(ms: number, what: string, is: (seen: Seen) => boolean): Promise<Seen> {
    const look = async () => {
      for (;;) {
        const found = this.seen.find(is)
        if (found !== undefined) return found
        await this.#news.promise
      }
    }
    const ended = this.ended.then(() => {
      const last = this.seen.at(-1)
      throw new Error(`The stream of run ${this.#runId} of thread ${this.threadId} ended before ` +
        `${what} had come: it told ${this.seen.length} supersteps, the last one in attempt ` +
        `${last?.attempt}; it broke ${this.breaks} times. ${this.#error}`)
    })
    return within(ms, what, Promise.race([look(), ended]))
  }

  /** Throws if a superstep was streamed twice, or not at all. */
  requireWhole(steps?: number): void {
    const numbers = this.seen.map(({ number }) => number)
    const wrong = numbers.findIndex((number, index) => number !== index + 1)
    if (wrong >= 0) {
      throw new Error(`Run ${this.#runId} of thread ${this.threadId}: superstep ${wrong + 1} ` +
        `should have been told, and ${numbers[wrong]} was.`)
    }
    if (steps !== undefined && numbers.length !== steps) {
      throw new Error(`Run ${this.#runId} of thread ${this.threadId} told ${numbers.length} of ` +
        `${steps} supersteps. ${this.#error}`)
    }
  }

  close(): void {
    this.#stream?.close()
  }

  async #watch(): Promise<void> {
    const { doors } = this.#options
    let end = performance.now() + reconnectMs
    for (let door = 0;; door = (door + 1) % doors.length) {
      const seenBefore = this.seen.length
      const stream = this.#stream = new EventStream(this.#request(doors[door]!), (event) =>
        this.#handle(event))
      const status = await stream.status.catch(() => 503)
      if (status >= 400 && status !== 503) {
        throw new Error(`The stream of thread ${this.threadId} was answered ${status}.`)
      }
      if (await stream.ended === 'end' && status === 200) return
      if (this.#runId === '') throw new Error('The stream broke before it named its run.')
      this.breaks += 1
      if (this.seen.length > seenBefore) end = performance.now() + reconnectMs
      if (performance.now() > end) {
        throw new Error(`In ${reconnectMs / 1_000} s no front door went on with the stream of ` +
          `thread ${this.threadId}.`)
      }
      await pause(againMs)
    }
  }

  #request(url: string): StreamRequest {
    const { steps, pauseMs } = this.#options
    if (this.#runId === '') {
      return { url, method: 'POST', path: `/threads/${this.threadId}/runs/stream`, body: {
        assistant_id: 'laps',
        input: { laps: steps, pauseMs },
        config: { recursion_limit: steps + 1 },
        stream_mode: ['updates'],
        stream_resumable: true,
        on_disconnect: 'continue',
        if_not_exists: 'create',
      } }
    }
    return { url, method: 'GET', headers: { 'last-event-id': this.#lastId },
      path: `/threads/${this.threadId}/runs/${this.#runId}/stream?stream_mode=updates` }
  }

  #handle({ event, data, id }: StreamEvent): void {
    const atMs = performance.now()
    if (id !== '') this.#lastId = id
    if (event === 'metadata') {
      const { run_id: runId, attempt } = JSON.parse(data) as { run_id: string; attempt: number }
      this.#runId = runId
      this.#attempt = attempt
    }
    if (event === 'error') this.#error = data
    if (event === 'updates') {
      const { lap } = JSON.parse(data) as { lap: { number: number; pid: number } }
      this.seen.push({ ...lap, attempt: this.#attempt, atMs })
    }
    this.#news.resolve()
    this.#news = Promise.withResolvers()
  }
}
