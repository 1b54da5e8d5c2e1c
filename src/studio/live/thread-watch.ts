/**
 * Follows a thread: one stream says which runs begin and end, another one has the events of the
 * run under way, whoever started it.
 */

import { addressFor } from '../api/address.ts'
import { ApiError } from '../api/client.ts'
import { follow } from '../api/event-stream.ts'
import type { StreamEvent } from '../api/event-stream.ts'
import { elapsedMs, nowMs, pause } from '../env.ts'
import type { EventLog } from './event-log.ts'
import { after, begun, ended, liveModes } from './live-run.ts'
import type { LiveStore } from './live-store.ts'

/** Parts that a watch writes to. */
export interface WatchParts {
  readonly threadId: string
  readonly store: LiveStore
  readonly log: EventLog
  /** The thread does not exist any more. */
  readonly gone: () => void
}

/** First events of a connection may be old ones: when they were made is not known. */
const replayMs = 120

/** A watch of a thread. */
export class ThreadWatch {
  readonly #parts: WatchParts
  readonly #ended = new AbortController()
  #run: { readonly id: string; readonly stop: AbortController } | undefined
  /** The run that was followed to its end last. */
  #overId: string | undefined
  /** Events since the last frame. */
  #fresh: StreamEvent[] = []
  #frame = 0

  constructor(parts: WatchParts) {
    this.#parts = parts
    void this.#followThread()
  }

  /** Ends it. */
  stop(): void {
    this.#ended.abort()
    this.#run?.stop.abort()
    cancelAnimationFrame(this.#frame)
  }

  /** Follows a run from its first event, unless it is followed already. */
  followRun(runId: string, isNew: boolean): void {
    if (this.#run?.id === runId || this.#ended.signal.aborted) return
    this.#run?.stop.abort()
    const stop = new AbortController()
    this.#run = { id: runId, stop }
    this.#parts.store.set({ run: begun(runId, nowMs()) })
    void this.#readRun(runId, stop.signal, isNew)
  }

  /**
   * Follows a run that began before the page was opened, unless another one is followed. An answer
   * that is late may name one whose end was seen already.
   */
  joinRun(runId: string): void {
    if (this.#run === undefined && this.#overId !== runId) this.followRun(runId, false)
  }

  async #followThread(): Promise<void> {
    const { threadId, store, gone } = this.#parts
    const { signal } = this.#ended
    let openings = 0
    try {
      const path = addressFor('GET /threads/:thread_id/stream', { params: { thread_id: threadId },
        query: { stream_mode: ['lifecycle'] } })
      const stream = { path, signal, away: (why: Error | undefined) =>
        store.set({ away: why !== undefined }), opened: () => {
          // What happened meanwhile is asked for.
          if (openings++ > 0) this.#changed()
        } }
      for await (const { event, text } of follow(stream)) {
        if (event === 'metadata') this.#mark(JSON.parse(text) as Mark)
      }
      if (!signal.aborted) gone()
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status === 404) return gone()
      await pause(5_000, signal)
      if (!signal.aborted) return this.#followThread()
    }
  }

  #mark({ run_id: runId, status }: Mark): void {
    if (status === undefined) this.followRun(runId, true)
    this.#changed()
  }

  #changed(): void {
    const { store } = this.#parts
    store.set({ version: store.state().version + 1 })
  }

  async #readRun(runId: string, signal: AbortSignal, isNew: boolean): Promise<void> {
    const { threadId, store } = this.#parts
    const path = addressFor('GET /threads/:thread_id/runs/:run_id/stream', {
      params: { thread_id: threadId, run_id: runId },
      query: { stream_mode: liveModes },
    })
    let isReplay = !isNew
    let oldUntilMs = 0
    const offsetMs = nowMs() - elapsedMs()
    const stream = { path, signal,
      away: (why: Error | undefined) => store.set({ away: why !== undefined }), opened: () => {
        oldUntilMs = isReplay ? elapsedMs() + replayMs : 0
        isReplay = true
      } }
    try {
      for await (const event of follow(stream)) {
        const { run, version } = store.state()
        if (run === undefined || run.runId !== runId) return
        const next = after(run, event, event.atMs < oldUntilMs ? null : event.atMs + offsetMs)
        store.set({ run: next, away: false, ...next.steps !== run.steps &&
          { version: version + 1 } })
        this.#keep(event)
      }
    } catch (error) {
      if (signal.aborted) return
      this.#fail(runId, error)
    }
    if (!signal.aborted) this.#over(runId)
  }

  #fail(runId: string, error: unknown): void {
    const { store } = this.#parts
    const { run } = store.state()
    if (run?.runId !== runId) return
    // It was undone, or deleted.
    if (error instanceof ApiError && error.status === 404) return store.set({ run: undefined })
    const message = error instanceof Error ? error.message : String(error)
    store.set({ run: { ...run, error: { message } } })
  }

  #over(runId: string): void {
    const { store } = this.#parts
    const { run, version } = store.state()
    if (this.#run?.id !== runId) return
    this.#run = undefined
    this.#overId = runId
    store.set({ run: run && ended(run, nowMs()), version: version + 1 })
  }

  #keep(event: StreamEvent): void {
    this.#fresh.push(event)
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0
      this.#parts.log.add(this.#fresh)
      this.#fresh = []
    })
  }
}

interface Mark {
  readonly run_id: string
  readonly status?: string
}
