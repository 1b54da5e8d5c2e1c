/** Keeps one member running: logs when it ends by itself, and starts it again. */

import { setTimeout as pause } from 'node:timers/promises'

import type { MemberDescription } from './description.ts'
import type { MemberProcess } from './member-process.ts'

/** What is supervised, and who is notified of changes. */
export interface SupervisorOptions {
  readonly process: MemberProcess
  /** Its name in log lines. */
  readonly name: string
  readonly restart: boolean
  readonly log: (line: string) => void
  /** Called with the description of the member, or with undefined while it does not serve. */
  changed(member: MemberDescription | undefined): void
}

const restartMs = 1_000
const longestRestartMs = 30_000

/** Time to end a member. A healthy one has drained long before. */
const endMs = 45_000

/** Supervises one member. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #ending = new AbortController()
  #watching: Promise<void> = Promise.resolve()

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Starts the member. Resolves when it serves. Rejects with a message if it does not start. */
  async start(): Promise<void> {
    const { process, name, changed } = this.#options
    try {
      changed(await process.start())
    } catch (error) {
      throw new Error(`${name} did not start: ${(error as Error).message}`, { cause: error })
    }
    this.#watching = this.#watch()
  }

  /** Ends the member gracefully, or by force if that takes too long. */
  async end(): Promise<void> {
    this.#ending.abort()
    const { process, changed } = this.#options
    process.signal('SIGTERM')
    const patience = new AbortController()
    const force = pause(endMs, undefined, { signal: patience.signal })
      .then(() => process.signal('SIGKILL'), () => undefined)
    await process.ended()
    patience.abort()
    await Promise.all([force, this.#watching])
    changed(undefined)
  }

  async #watch(): Promise<void> {
    const { process, name, restart, log, changed } = this.#options
    for (let waitMs = restartMs;;) {
      const how = await process.ended()
      if (this.#ending.signal.aborted) return
      changed(undefined)
      if (!restart) return log(`${name} ended by itself (${how}); see ${process.logFile}.`)
      log(`${name} ended by itself (${how}); it is started again in ${waitMs / 1_000} s.`)
      await pause(waitMs, undefined, { signal: this.#ending.signal }).catch(() => undefined)
      if (this.#ending.signal.aborted) return
      try {
        const member = await process.start()
        changed(member)
        log(`${name} serves again at ${member.http}.`)
        waitMs = restartMs
      } catch (error) {
        if (!this.#ending.signal.aborted) log(`${name} did not start: ${(error as Error).message}`)
        waitMs = Math.min(waitMs * 2, longestRestartMs)
      }
    }
  }
}
