/** Requests at a steady rate through several front doors, and the answer to each. */

import { Agent, request } from 'node:http'

export interface HammerOptions {
  readonly frontDoors: readonly string[]
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Answered {
  readonly sentMs: number
  readonly lastSeenMs: number
  /** 0 if there was no answer. */
  readonly status: number
}

const tickMs = 10

export class Hammer {
  readonly answers: Answered[] = []
  readonly #options: HammerOptions
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 100 })
  readonly #closed = new Set<number>()
  #sent = 0

  constructor(options: HammerOptions) {
    this.#options = options
  }

  /** Those that were let through: every answer but 429 and 503. */
  get admitted(): readonly Answered[] {
    return this.answers.filter(({ status }) => ![0, 429, 503].includes(status))
  }

  /** No request goes there until it is opened again. */
  closeDoor(index: number): void {
    this.#closed.add(index)
  }

  openDoor(index: number): void {
    this.#closed.delete(index)
  }

  /** Sends at this rate, round robin through all doors; resolves when all are answered. */
  async strike(perSecond: number, ms: number): Promise<void> {
    const began = performance.now()
    const answers: Promise<Answered>[] = []
    const whole = Math.round(perSecond * ms / 1_000)
    while (answers.length < whole) {
      const due = Math.min(whole, Math.ceil((performance.now() - began) * perSecond / 1_000))
      while (answers.length < due) answers.push(this.once())
      await new Promise((next) => setTimeout(next, tickMs))
    }
    await Promise.all(answers)
  }

  /** One request; never rejects. */
  async once(): Promise<Answered> {
    const { frontDoors, method, path, headers } = this.#options
    const open = frontDoors.filter((_, index) => !this.#closed.has(index))
    const sentMs = performance.now()
    const status = await new Promise<number>((answered) => {
      const sent = request(open[this.#sent++ % open.length]! + path, { method, headers,
        agent: this.#agent }, (response) => {
        response.resume()
        answered(response.statusCode!)
      })
      sent.on('error', () => answered(0)).end()
    })
    const answer = { sentMs, lastSeenMs: performance.now(), status }
    this.answers.push(answer)
    return answer
  }

  close(): void {
    this.#agent.destroy()
  }
}

/**
 * The most that were certainly let through in one window: sent and answered in it. What began
 * before or ended after may have been let through outside.
 */
export function mostWithin(windowMs: number, admitted: readonly Answered[]): number {
  const bySent = admitted.toSorted((a, b) => a.sentMs - b.sentMs)
  return Math.max(0, ...bySent.map(({ sentMs }, index) =>
    bySent.slice(index)
      .filter(({ lastSeenMs }) => lastSeenMs <= sentMs + windowMs).length
  ))
}
