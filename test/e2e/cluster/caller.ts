/** Sends requests through any front door that is up, and records what went wrong as faults. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Door, Doors } from './doors.ts'

export interface CallerOptions {
  readonly doors: Doors
  /**
   * Whether 503 is an acceptable answer, as when the store or most members may be out of reach, and
   * 500 if it says that it is not known what was done.
   */
  readonly lenient: boolean
}

/** An answer with its body still unread. */
export interface Called {
  readonly door: Door
  readonly response: Response
}

/** Much longer than it takes a slow machine to detect a dead member and to take over. */
const patienceMs = 180_000
const againMs = 50

const notKnown = 'it is not known what was done there'

export class Caller {
  readonly #options: CallerOptions
  /** One sentence per fault. */
  readonly faults: string[] = []
  /** Answers of 503 and of 500, and broken connections, that were to be expected. */
  readonly excused = { unavailable: 0, unknown: 0, broken: 0 }
  requests = 0
  worstMs = 0

  constructor(options: CallerOptions) {
    this.#options = options
  }

  /** One request; undefined if the connection broke before an answer, or that says nothing. */
  async once(method: string, path: string, body?: unknown,
    headers: Record<string, string> = {}): Promise<Called | undefined> {
    const { doors, lenient } = this.#options
    const door = await doors.pick()
    const beganMs = performance.now()
    this.requests += 1
    try {
      const response = await fetch(door.url + path, {
        method,
        signal: AbortSignal.timeout(patienceMs),
        headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
        ...body !== undefined && { body: JSON.stringify(body) },
      })
      this.worstMs = Math.max(this.worstMs, performance.now() - beganMs)
      if (response.status === 503 && (lenient || doors.isExcused(door))) {
        this.excused.unavailable += 1
      } else if (response.status >= 500) {
        const text = await response.clone().text()
        // Who received it died, and for long nobody could own what that one had.
        if (lenient && text.includes(notKnown)) {
          this.excused.unknown += 1
          return undefined
        }
        this.faults.push(`${method} ${path} at front door ${door.place} was answered ` +
          `${response.status}: ${text}`)
      }
      return { door, response }
    } catch (error) {
      this.broken(door, `${method} ${path}`, error)
      return undefined
    }
  }

  /** For idempotent requests: asks until the answer is not 503. */
  async sure(method: string, path: string, headers: Record<string, string> = {}): Promise<Called> {
    const end = performance.now() + patienceMs
    for (;;) {
      const called = await this.once(method, path, undefined, headers)
      if (called !== undefined && called.response.status !== 503) return called
      const refusal = await called?.response.text().catch(String)
      const restS = Number(called?.response.headers.get('retry-after') ?? 0)
      if (performance.now() > end) {
        throw new Error(
          `${method} ${path} has no answer in three minutes, but ${refusal ?? 'silence'}`,
        )
      }
      // A client that ignores Retry-After takes capacity from the others.
      await pause(Math.max(againMs, restS * 1_000))
    }
  }

  /** The body of a sure answer; undefined for 404. The connection may break within it. */
  async json<Body>(method: string, path: string): Promise<Body | undefined> {
    for (;;) {
      const { door, response } = await this.sure(method, path)
      try {
        const text = await response.text()
        if (response.ok) return JSON.parse(text) as Body
        if (response.status === 404) return undefined
        throw new Error(`${method} ${path} was answered ${response.status}: ${text}`)
      } catch (error) {
        if (response.status !== 200) throw error
        this.broken(door, `the answer to ${method} ${path}`, error)
      }
    }
  }

  /** A connection through this front door broke. */
  broken(door: Door, what: string, error: unknown): void {
    if (this.#options.doors.isExcused(door)) {
      this.excused.broken += 1
      return
    }
    const { message, cause } = error as Error
    this.faults.push(`${what} broke at front door ${door.place}, which lives: ${message}` +
      ` (${(cause as Error | undefined)?.message ?? 'no cause'})`)
  }
}
