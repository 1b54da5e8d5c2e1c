/** A client of crons: makes some while faults happen, and checks at the end what they fired. */

import type { CronRow } from '../../proto/gen/storage/v1/row.ts'
import type { CronContent } from '../../src/crons/index.ts'
import { HeddleError } from '../../src/errors.ts'
import type { Violation } from './checker.ts'
import type { History } from './list-actor.ts'
import { listOf } from './member-crons.ts'

/** Due at each minute of the crons, which is a second of the world. */
const content: CronContent = { assistantId: 'a', threadId: '', schedule: '* * * * *', timezone: '',
  endTimeMs: 0, enabled: true, onRunCompleted: 'keep', metadataJson: '{}', payloadJson: '{}',
  userId: '' }

/** Crons that are made. A request whose outcome is not known may have made one more. */
const wanted = 3

export interface CronCheckerOptions {
  /** Asks some member; undefined if there is none. */
  readonly ask: (id: string, command: object) => Promise<unknown> | undefined
  /** Asks until some member answers. */
  readonly askAgain: (id: string, command: object) => Promise<unknown>
  readonly runsOf: (list: string) => Promise<History>
  readonly fail: (violation: Violation, what: string) => void
}

export class CronChecker {
  /** Runs that were found at the end. */
  fired = 0
  readonly #options: CronCheckerOptions
  readonly #asked = new Set<string>()
  #made = 0

  constructor(options: CronCheckerOptions) {
    this.#options = options
  }

  /** Makes a cron, unless there are enough. */
  async make(): Promise<void> {
    if (this.#made >= wanted) return
    const id = `cron ${this.#asked.size + 1}`
    const making = this.#options.ask(id, { kind: 'create', content })
    if (making === undefined) return
    this.#asked.add(id)
    try {
      await making
      this.#made++
    } catch {
      // It may be there all the same.
    }
  }

  /**
   * No due time has two runs, and what the log says has a run. An owner whose clock is behind may
   * fire an earlier time after a later one, which its predecessor did not write down any more.
   */
  async end(): Promise<void> {
    for (const id of this.#asked) {
      const cron = await this.#cronOf(id)
      if (cron === undefined) continue
      const { items } = await this.#options.runsOf(listOf(id))
      const dues = items.map((item) => Number(item.split(' ')[0]))
      this.fired += dues.length
      const { fail } = this.#options
      if (new Set(dues).size < dues.length) fail('twice', `${id} fired twice: ${dues.join()}`)
      if (cron.firedMs > 0 && !dues.includes(cron.firedMs)) {
        fail('lost', `${id} has no run of ${cron.firedMs}`)
      }
    }
  }

  async #cronOf(id: string): Promise<CronRow | undefined> {
    try {
      return await this.#options.askAgain(id, { kind: 'get' }) as CronRow
    } catch (error) {
      if (HeddleError.from(error).code !== 'not_found') throw error
      return undefined
    }
  }
}
