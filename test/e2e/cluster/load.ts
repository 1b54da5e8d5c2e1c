/** Many speakers at once, and a check of everything when they are done. */

import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Chance } from '../../simulation/chance.ts'
import { ask } from '../../support/wire.ts'
import { Caller } from './caller.ts'
import { Doors } from './doors.ts'
import { faultsOf } from './history.ts'
import type { Execution } from './history.ts'
import { Speaker } from './speaker.ts'

export interface LoadOptions {
  readonly frontDoors: readonly string[]
  readonly threads: number
  readonly seed: number
  /** The longest pause of a client between two acts. */
  readonly paceMs: number
  /** Whether 503 is an acceptable answer, and 500 if it says that what was done is not known. */
  readonly lenient?: boolean
}

const reportedFaults = 30
const patienceMs = 180_000
const lookMs = 20

export class Load {
  readonly doors: Doors
  readonly caller: Caller
  readonly #id = randomUUID()
  readonly #folder = mkdtempSync(join(tmpdir(), 'heddle-load-'))
  readonly #file = join(this.#folder, 'executions')
  readonly #speakers: readonly Speaker[]
  readonly #stopped = new AbortController()
  readonly #speaking: Promise<unknown>
  /** Processes that stood still or were cut off: no promise covers what they executed. */
  readonly #doubted = new Set<number>()
  readonly #frontDoors: readonly string[]

  constructor({ frontDoors, threads, seed, paceMs, lenient = false }: LoadOptions) {
    this.#frontDoors = frontDoors
    this.doors = new Doors(frontDoors, new Chance(seed))
    this.caller = new Caller({ doors: this.doors, lenient })
    writeFileSync(this.#file, '')
    this.#speakers = Array.from({ length: threads }, (_, index) =>
      new Speaker({
        caller: this.caller,
        chance: new Chance(seed + index + 1),
        file: this.#file,
        load: this.#id,
        paceMs,
      }))
    this.#speaking = Promise.all(
      this.#speakers.map((speaker) => speaker.speak(this.#stopped.signal)),
    )
    // Its failure is reported where it is awaited.
    this.#speaking.catch(() => undefined)
  }

  /** Runs acknowledged so far. */
  get accepted(): number {
    return this.#speakers.reduce((sum, { accepted }) => sum + accepted, 0)
  }

  /** Resolves when this many more runs were acknowledged; rejects if that takes too long. */
  async resume(runs: number): Promise<void> {
    const enough = this.accepted + runs
    const end = performance.now() + patienceMs
    while (this.accepted < enough) {
      await Promise.race([pause(lookMs), this.#speaking])
      if (performance.now() > end) {
        throw new Error(`only ${runs - enough + this.accepted} of ${runs} runs in three minutes`)
      }
    }
  }

  /** Ignores what this process executed: it stood still, or was cut off. */
  doubt(pid: number): void {
    this.#doubted.add(pid)
  }

  /** Ends the load. Returns one sentence per fault, up to a maximum. */
  async faults(): Promise<readonly string[]> {
    const all = await this.#allFaults()
    if (all.length <= reportedFaults) return all
    return [...all.slice(0, reportedFaults), `… and ${all.length - reportedFaults} more`]
  }

  async #allFaults(): Promise<string[]> {
    this.#stopped.abort()
    try {
      await this.#speaking
      const executions = this.#executions()
      const histories = await Promise.all(
        this.#speakers.map((speaker) => speaker.history(executions)),
      )
      const found = await Promise.all(this.#frontDoors.map((url) => this.#searched(url)))
      return [...this.caller.faults, ...histories.flatMap(faultsOf), ...found.flat()]
    } catch (error) {
      return [...this.caller.faults, String((error as Error).stack)]
    } finally {
      rmSync(this.#folder, { recursive: true, force: true })
    }
  }

  /** One line of totals, and one for each of the first faults. */
  summary(): string {
    const { requests, excused, worstMs, faults } = this.caller
    return `${this.#speakers.length} threads, ${this.accepted} runs, ${requests} requests, ` +
      `longest ${(worstMs / 1_000).toFixed(1)} s; through front doors that went down ` +
      `${excused.broken} broke; ${excused.unavailable} were answered 503, ${excused.unknown} ` +
      'that it is not known what was done' +
      faults.slice(0, reportedFaults).map((fault) => `\n  ${fault}`).join('')
  }

  #executions(): Execution[] {
    return readFileSync(this.#file, 'utf8').trim().split('\n').filter((text) => text !== '')
      .map((text) => {
        const [threadId, word, number, pid, atMs] = text.split(' ')
        return { threadId: threadId!, word: word!, line: `${word} ${number}`, pid: Number(pid),
          atMs: Number(atMs) }
      })
      .filter(({ pid }) => !this.#doubted.has(pid))
  }

  /** Every front door must find all threads, whichever member owns them, and none busy. */
  async #searched(url: string): Promise<string[]> {
    const query = { metadata: { load: this.#id }, limit: 1_000, select: ['thread_id', 'status'] }
    const { body } = await ask(url, 'POST', '/threads/search', query)
    const found = body as { thread_id: string; status: string }[]
    const ids = new Set(found.map(({ thread_id: id }) => id))
    return [
      ...this.#speakers.filter(({ threadId }) => !ids.has(threadId))
        .map(({ threadId }) => `thread ${threadId} is not found through ${url}`),
      ...ids.size === found.length ? [] : [`${url} finds a thread twice`],
      ...found.filter(({ status }) => status === 'busy')
        .map(({ thread_id: id }) => `thread ${id} is found busy through ${url}`),
    ]
  }
}
