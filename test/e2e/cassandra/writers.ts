/** Clients that write all the time and record how each write was answered. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { say, texts } from '../../support/run-events.ts'
import { allowedMs } from '../../support/stillness.ts'
import { ask } from '../../support/wire.ts'
import { answerMs } from './questions.ts'

/** One request and its answer; `broken` if none came. */
export interface Seen {
  readonly thread: string
  /** The message to the thread; empty if none was sent. */
  readonly word: string
  readonly atMs: number
  readonly tookMs: number
  readonly answer: number | 'broken'
  readonly retryAfter: string | null
}

const always = [0, Number.POSITIVE_INFINITY] as const

/** How long a refused client waits before its next request. */
const patienceMs = 25

/**
 * Some create threads, one after the other; others each send messages to one thread and wait for
 * the runs. An answer of 503 promises that nothing was written; `check` holds the server to it.
 */
export class Writers {
  readonly #url: string
  readonly #loops: readonly Promise<void>[]
  readonly seen: Seen[] = []
  #stopped = false

  constructor(url: string, { makers, speakers }: { makers: number; speakers: number }) {
    this.#url = url
    this.#loops = [
      ...Array.from({ length: makers }, () => this.#loop(() => this.#make())),
      ...Array.from({ length: speakers }, randomUUID).map((thread) =>
        this.#loop(() => this.#speak(thread))
      ),
    ]
  }

  /** The threads that get messages. */
  get spokenTo(): readonly string[] {
    return [...new Set(this.seen.filter(({ word }) => word !== '').map(({ thread }) => thread))]
  }

  get refused(): number {
    return this.seen.filter(({ answer }) => answer === 503).length
  }

  /** Resolves with the first request begun from now on that succeeds. */
  async nextGood(): Promise<Seen> {
    const nowMs = performance.now()
    const isIt = ({ atMs, answer }: Seen) => atMs >= nowMs && answer === 200
    await expect.poll(() => this.seen.some(isIt), { interval: 5 }).toBe(true)
    return this.seen.find(isIt)!
  }

  /** The longest time that a request begun in this span took. */
  worstMs(fromMs: number, throughMs: number): number {
    return Math.max(...this.seen.filter(({ atMs }) => atMs >= fromMs && atMs <= throughMs)
      .map(({ tookMs }) => tookMs))
  }

  /** Resolves when every request has been answered. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#loops)
  }

  /**
   * What was acknowledged is there, what was refused is not, and there was no other answer.
   * Refusals of requests begun in the span (by default: of all) came in time.
   */
  async check([fromMs, throughMs]: readonly [number, number] = always): Promise<void> {
    expect(this.seen.filter(({ answer }) => answer !== 200 && answer !== 503)).toEqual([])
    const refused = this.seen.filter(({ answer }) => answer === 503)
    expect(refused.filter(({ retryAfter }) => retryAfter !== '1')).toEqual([])
    const late = refused.filter(({ atMs, tookMs }) =>
      atMs >= fromMs && atMs <= throughMs && tookMs > allowedMs(answerMs, atMs, atMs + tookMs)
    )
    expect(
      late.map(({ atMs, tookMs, word }) =>
        `${word === '' ? 'a thread' : 'a run'} after ${Math.round(atMs - fromMs)} ms was ` +
        `refused in ${Math.round(tookMs)} ms`
      ),
    ).toEqual([])
    const spoken = Map.groupBy(this.seen.filter(({ word }) => word !== ''), ({ thread }) => thread)
    for (const { thread, answer } of this.seen.filter(({ word }) => word === '')) {
      const found = await ask(this.#url, 'GET', `/threads/${thread}`)
      expect(found.status, `a thread whose making was answered ${answer}`)
        .toBe(answer === 200 ? 200 : 404)
    }
    for (const [thread, said] of spoken) {
      const words = said.filter(({ answer }) => answer === 200).map(({ word }) => word)
      const { body } = await ask(this.#url, 'GET', `/threads/${thread}`)
      expect(texts((body as { values: unknown }).values), `thread ${thread}`)
        .toEqual(words.flatMap((word) => [word, `echo: ${word}`]))
    }
  }

  async #loop(act: () => Promise<Seen>): Promise<void> {
    while (!this.#stopped) {
      const seen = await act()
      this.seen.push(seen)
      if (seen.answer !== 200) await pause(patienceMs)
    }
  }

  #make(): Promise<Seen> {
    const thread = randomUUID()
    return this.#ask({ thread, word: '' }, '/threads', { thread_id: thread })
  }

  #speak(thread: string): Promise<Seen> {
    const word = randomUUID()
    return this.#ask({ thread, word }, `/threads/${thread}/runs/wait`, { assistant_id: 'echo',
      input: say(word), if_not_exists: 'create' })
  }

  async #ask(what: { thread: string; word: string }, path: string, body: unknown): Promise<Seen> {
    const atMs = performance.now()
    const took = () => ({ ...what, atMs, tookMs: performance.now() - atMs })
    try {
      const { status, headers } = await ask(this.#url, 'POST', path, body)
      return { ...took(), answer: status, retryAfter: headers.get('retry-after') }
    } catch {
      return { ...took(), answer: 'broken', retryAfter: null }
    }
  }
}
