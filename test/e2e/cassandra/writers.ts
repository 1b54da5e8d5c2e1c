/** Clients that write all the time and know of each write what they were told. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { say, texts } from '../../support/run-events.ts'
import { allowedMs } from '../../support/stillness.ts'
import { ask } from '../../support/wire.ts'
import { answerMs } from './questions.ts'

/** One request and what came of it; `broken` where no answer came. */
export interface Told {
  readonly thread: string
  /** What was said to the thread, where something was. */
  readonly word: string
  readonly atMs: number
  readonly tookMs: number
  readonly answer: number | 'broken'
  readonly retryAfter: string | null
}

const always = [0, Number.POSITIVE_INFINITY] as const

/** Whoever was refused comes again after so long. */
const patienceMs = 25

/**
 * Some make threads, one after the other; others speak to one thread each and wait for the run.
 * 503 is a word that nothing was written: `check` takes the server by it.
 */
export class Writers {
  readonly #url: string
  readonly #loops: readonly Promise<void>[]
  readonly told: Told[] = []
  #stopped = false

  constructor(url: string, { makers, speakers }: { makers: number, speakers: number }) {
    this.#url = url
    this.#loops = [
      ...Array.from({ length: makers }, () => this.#loop(() => this.#make())),
      ...Array.from({ length: speakers }, randomUUID).map((thread) =>
        this.#loop(() => this.#speak(thread))),
    ]
  }

  /** The threads that are spoken to. */
  get spokenTo(): readonly string[] {
    return [...new Set(this.told.filter(({ word }) => word !== '').map(({ thread }) => thread))]
  }

  get refused(): number {
    return this.told.filter(({ answer }) => answer === 503).length
  }

  /** Resolves with the next answer that is good to a request that begins from now on. */
  async nextGood(): Promise<Told> {
    const nowMs = performance.now()
    const isIt = ({ atMs, answer }: Told) => atMs >= nowMs && answer === 200
    await expect.poll(() => this.told.some(isIt), { interval: 5 }).toBe(true)
    return this.told.find(isIt)!
  }

  /** The longest that any request took that began in the span. */
  worstMs(fromMs: number, throughMs: number): number {
    return Math.max(...this.told.filter(({ atMs }) => atMs >= fromMs && atMs <= throughMs)
      .map(({ tookMs }) => tookMs))
  }

  /** Resolves when every request has been answered. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#loops)
  }

  /**
   * What was acknowledged is there, what was refused is not, and nothing else was said. Who came
   * while the store was missed, all the time where no span is given, was told so in time.
   */
  async check([fromMs, throughMs]: readonly [number, number] = always): Promise<void> {
    expect(this.told.filter(({ answer }) => answer !== 200 && answer !== 503)).toEqual([])
    const refused = this.told.filter(({ answer }) => answer === 503)
    expect(refused.filter(({ retryAfter }) => retryAfter !== '1')).toEqual([])
    const late = refused.filter(({ atMs, tookMs }) =>
      atMs >= fromMs && atMs <= throughMs && tookMs > allowedMs(answerMs, atMs, atMs + tookMs))
    expect(late.map(({ atMs, tookMs, word }) =>
      `${word === '' ? 'a thread' : 'a run'} after ${Math.round(atMs - fromMs)} ms was ` +
      `refused in ${Math.round(tookMs)} ms`)).toEqual([])
    const spoken = Map.groupBy(this.told.filter(({ word }) => word !== ''), ({ thread }) => thread)
    for (const { thread, answer } of this.told.filter(({ word }) => word === '')) {
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

  async #loop(act: () => Promise<Told>): Promise<void> {
    while (!this.#stopped) {
      const told = await act()
      this.told.push(told)
      if (told.answer !== 200) await pause(patienceMs)
    }
  }

  #make(): Promise<Told> {
    const thread = randomUUID()
    return this.#ask({ thread, word: '' }, '/threads', { thread_id: thread })
  }

  #speak(thread: string): Promise<Told> {
    const word = randomUUID()
    return this.#ask({ thread, word }, `/threads/${thread}/runs/wait`,
      { assistant_id: 'echo', input: say(word), if_not_exists: 'create' })
  }

  async #ask(what: { thread: string, word: string }, path: string, body: unknown): Promise<Told> {
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
