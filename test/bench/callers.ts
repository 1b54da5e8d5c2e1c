/** Clients that send one request after the other, and count failures. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { within } from './patience.ts'
import { progress } from './progress.ts'
import { Served } from './served.ts'

const answerMs = 30_000
const restMs = 50
/** How many failures are printed as they happen. */
const seenFailures = 10

export class Callers {
  readonly #doors: readonly string[]
  readonly #threads: readonly string[]
  readonly #count: number
  #calling: readonly Promise<void>[] = []
  #stopped = false
  requests = 0
  /** Requests answered without success, or not at all. */
  failed = 0
  slowestMs = 0

  /** They read `threads`, and run some threads of their own. */
  constructor(doors: readonly string[], threads: readonly string[], count: number) {
    this.#doors = doors
    this.#threads = threads
    this.#count = count
  }

  start(): void {
    this.#calling = Array.from({ length: this.#count },
      (_, number) => this.#call(this.#doors[number % this.#doors.length]!))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#calling)
  }

  async #call(door: string): Promise<void> {
    const served = new Served(door, door)
    const asks = [
      (thread: string) => served.ask('GET', `/threads/${thread}`),
      (thread: string) => served.ask('GET', `/threads/${thread}/state`),
      () => served.wait(randomUUID(), 'hello'),
      () => served.ask('POST', '/threads/search', { limit: 10, select: ['thread_id'] }),
    ]
    for (let turn = 0; !this.#stopped; turn += 1) {
      const thread = this.#threads[turn % this.#threads.length]!
      await this.#note(asks[turn % asks.length]!(thread))
      await pause(restMs)
    }
    served.close()
  }

  async #note(answer: Promise<unknown>): Promise<void> {
    const began = performance.now()
    this.requests += 1
    try {
      await within(answerMs, 'an answer', answer)
    } catch (error) {
      this.failed += 1
      if (this.failed <= seenFailures) progress(`failed: ${(error as Error).message}`)
    }
    this.slowestMs = Math.max(this.slowestMs, performance.now() - began)
  }
}
