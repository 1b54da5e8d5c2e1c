/** One client of one thread, which starts runs in every way, one request after the other. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../../simulation/chance.ts'
import type { Called, Caller } from './caller.ts'
import type { Attempt, Execution, FoundRun, ThreadHistory } from './history.ts'
import { eventsOf } from './sse.ts'

export interface SpeakerOptions {
  readonly caller: Caller
  readonly chance: Chance
  /** Where the graph writes down what it executes. */
  readonly file: string
  /** Metadata that all threads of one load share. */
  readonly load: string
  /** The longest pause between two acts. */
  readonly paceMs: number
}

interface Listed {
  run_id: string
  status: string
  metadata: { word?: string }
}

const steps = 6
const stepMs = 30
const strategies = ['enqueue', 'reject', 'interrupt', 'rollback'] as const

export class Speaker {
  readonly threadId = randomUUID()
  readonly #options: SpeakerOptions
  readonly #attempts: Attempt[] = []
  /** Streams that are still being read. */
  readonly #streams: Promise<void>[] = []
  #act = 0

  constructor(options: SpeakerOptions) {
    this.#options = options
  }

  get accepted(): number {
    return this.#attempts.filter(({ answer }) => answer === 'accepted').length
  }

  /** Acts until it is stopped; resolves when everything that it began has ended. */
  async speak(stopped: AbortSignal): Promise<void> {
    const { chance, paceMs } = this.#options
    await this.#makeThread()
    const acts = [() => this.#interfere(), () => this.#interfere(), () => this.#queue(),
      () => this.#wait()]
    while (!stopped.aborted) {
      this.#act += 1
      await chance.pick(acts)()
      await this.#settle()
      await pause(chance.between(0, paceMs))
    }
  }

  /** Everything observed, completed with the final state. */
  async history(executions: readonly Execution[]): Promise<ThreadHistory> {
    const { caller } = this.#options
    const path = `/threads/${this.threadId}`
    const runs = await caller.json<Listed[]>('GET', `${path}/runs?limit=1000`)
    return {
      threadId: this.threadId,
      steps,
      attempts: this.#attempts,
      lines: await this.#lines(),
      runs:
        runs?.map(({ run_id: runId, status, metadata }): FoundRun => ({ runId, status,
          word: metadata.word ?? 'nobody' })
        ) ?? [],
      executions: executions.filter(({ threadId }) => threadId === this.threadId),
    }
  }

  /** Creates the thread; repeated requests create it only once. */
  async #makeThread(): Promise<void> {
    const { caller, load, paceMs } = this.#options
    const body = { thread_id: this.threadId, metadata: { load }, if_exists: 'do_nothing' }
    for (let made = false; !made;) {
      const called = await caller.once('POST', '/threads', body)
      await called?.response.body?.cancel()
      made = called?.response.status === 200
      if (!made) await pause(paceMs)
    }
  }

  /** A stream, and one or two runs that collide with it. */
  async #interfere(): Promise<void> {
    const { chance } = this.#options
    await this.#stream('enqueue')
    for (let more = 1 + chance.below(2); more > 0; more -= 1) {
      await pause(chance.between(0, steps * stepMs))
      const strategy = chance.pick(strategies)
      await (chance.flip(0.5) ? this.#stream(strategy) : this.#background(strategy))
    }
  }

  async #queue(): Promise<void> {
    for (let count = 3; count > 0; count -= 1) await this.#background('enqueue')
  }

  async #wait(): Promise<void> {
    const { caller } = this.#options
    const attempt = this.#attempt('enqueue')
    const called = await this.#post(attempt, '/runs/wait')
    if (called === undefined || !this.#isAccepted(attempt, called)) return
    try {
      const { lines = [] } = await called.response.json() as { lines?: string[] }
      const atMs = Date.now()
      attempt.seen.push(...lines.filter((line) => line.startsWith(attempt.word))
        .map((line) => ({ line, atMs })))
      attempt.followed = true
      if (lines.at(-1) === `${attempt.word} ${steps}`) return
      caller.faults.push(`who waited for ${attempt.word} got ${lines.slice(-2 * steps).join()}`)
    } catch (error) {
      caller.broken(called.door, `the answer to who waited for ${attempt.word}`, error)
    }
  }

  async #background(strategy: Attempt['strategy']): Promise<void> {
    const attempt = this.#attempt(strategy)
    const called = await this.#post(attempt, '/runs')
    if (called === undefined || !this.#isAccepted(attempt, called)) return
    await called.response.body?.cancel()
  }

  async #stream(strategy: Attempt['strategy']): Promise<void> {
    const attempt = this.#attempt(strategy)
    const called = await this.#post(attempt, '/runs/stream')
    if (called === undefined || !this.#isAccepted(attempt, called)) return
    this.#streams.push(this.#follow(attempt, called))
  }

  #attempt(strategy: Attempt['strategy']): Attempt {
    const attempt: Attempt = { word: randomUUID().slice(0, 13), strategy, act: this.#act,
      answer: 'unknown', seen: [], followed: false }
    this.#attempts.push(attempt)
    return attempt
  }

  #post({ word, strategy }: Attempt, path: string): Promise<Called | undefined> {
    const { caller, file } = this.#options
    return caller.once('POST', `/threads/${this.threadId}${path}`, {
      assistant_id: 'diary',
      multitask_strategy: strategy,
      metadata: { word },
      input: { file, thread: this.threadId, word, steps, pauseMs: stepMs },
      stream_mode: ['updates'],
      stream_resumable: true,
      config: { recursion_limit: 50 },
    })
  }

  /** Records the answer; a run is durable before its location is sent. */
  #isAccepted(attempt: Attempt, { response }: Called): boolean {
    const { status } = response
    if (status === 200) {
      attempt.answer = 'accepted'
      attempt.runId = /\/runs\/([^/]+)/.exec(response.headers.get('content-location') ?? '')?.[1]
      return true
    }
    if (status === 503) attempt.answer = 'unavailable'
    else if (status === 422 && attempt.strategy === 'reject') attempt.answer = 'refused'
    else this.#options.caller.faults.push(`a run to ${attempt.strategy} was answered ${status}`)
    void response.body?.cancel()
    return false
  }

  /** Reads to the end, through another front door if this one goes down. */
  async #follow(attempt: Attempt, called: Called): Promise<void> {
    const { caller } = this.#options
    const path = `/threads/${this.threadId}/runs/${attempt.runId}/stream?stream_mode=updates`
    let { door, response } = called
    let last = '-1'
    for (;;) {
      try {
        for await (const { event, data, id } of eventsOf(response.body!)) {
          last = id ?? last
          if (event !== 'updates') continue
          const { write } = data as { write?: { lines: readonly string[] } }
          const atMs = Date.now()
          attempt.seen.push(...(write?.lines ?? []).map((line) => ({ line, atMs })))
        }
        attempt.followed = true
        return
      } catch (error) {
        caller.broken(door, `the stream of ${attempt.word}`, error)
      }
      ;({ door, response } = await caller.sure('GET', path, { 'last-event-id': last }))
      // Rolled back meanwhile.
      if (response.status === 404) return
    }
  }

  /** Waits until all has ended, and asks two front doors what there is now. */
  async #settle(): Promise<void> {
    const { caller } = this.#options
    await Promise.all(this.#streams.splice(0))
    const path = `/threads/${this.threadId}/runs`
    for (;;) {
      // All in one answer: a run that moves to another member is pending for a moment.
      const runs = await caller.json<Listed[]>('GET', `${path}?limit=1000`) ?? []
      const open = runs.filter(({ status }) => status === 'running' || status === 'pending')
      if (open.length === 0) break
      for (const { run_id: id } of open) await caller.json('GET', `${path}/${id}/join`)
    }
    const [one, other] = await Promise.all([this.#lines(), this.#lines()])
    if (String(one) === String(other)) return
    caller.faults.push(`thread ${this.threadId}: two front doors tell different states of it: ` +
      `${one.slice(-2 * steps).join()}; ${other.slice(-2 * steps).join()}`)
  }

  async #lines(): Promise<readonly string[]> {
    const state = await this.#options.caller.json<{ values: { lines?: string[] } | null }>(
      'GET',
      `/threads/${this.threadId}/state`,
    )
    return state?.values?.lines ?? []
  }
}
