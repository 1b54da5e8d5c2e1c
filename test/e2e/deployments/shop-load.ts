/** Requests at a steady rate to a deployment, through every front door that is up. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import { Chance } from '../../simulation/chance.ts'
import { Caller } from '../cluster/caller.ts'
import { Doors } from '../cluster/doors.ts'

/** What a request is for. */
export type ShopRequest = 'read' | 'create' | 'run'

/** A request that was answered. Times are those of `performance.now()`. */
export interface ShopAnswer {
  readonly kind: ShopRequest
  readonly sentMs: number
  readonly endMs: number
  /** What a run said: the text of its code, and its secret. */
  readonly said?: string
}

export interface ShopLoadOptions {
  readonly frontDoors: readonly string[]
  readonly headers?: Record<string, string>
}

const tickMs = 20
/** Of a hundred requests. */
const shares = { run: 15, create: 5 }
/** More than that are not under way at once: a machine that cannot do more gets no more. */
const underWayMax = 60
const threadsMax = 100

export class ShopLoad {
  readonly doors: Doors
  readonly caller: Caller
  readonly answers: ShopAnswer[] = []
  /** One sentence for each answer that was not to be expected. */
  readonly faults: string[] = []
  readonly #options: ShopLoadOptions
  readonly #chance = new Chance(1)
  /** Threads without a run, and all of them. */
  readonly #idle: string[] = []
  readonly #threads: string[] = []
  readonly #underWay = new Set<Promise<void>>()
  readonly #began = performance.now()
  #isStopped = false
  #sending: Promise<void> | undefined

  constructor(options: ShopLoadOptions) {
    this.#options = options
    this.doors = new Doors(options.frontDoors, new Chance(2))
    this.caller = new Caller({ doors: this.doors, lenient: false })
  }

  /** Requests a second. */
  perSecond = 20

  /** Sends from now on. */
  begin(): void {
    this.#sending = this.#send()
  }

  /** False: whatever is asked for may be answered that nothing is active yet. */
  isDeployed = false

  /** Ends. Resolves with one sentence for each fault. */
  async end(): Promise<readonly string[]> {
    this.#isStopped = true
    await this.#sending
    await Promise.all(this.#underWay)
    return [...this.caller.faults, ...this.faults]
  }

  /** Milliseconds that so many of a hundred answers took at most, of those sent in that time. */
  percentile(percent: number, fromMs: number, untilMs: number, kind?: ShopRequest): number {
    const times = this.answers
      .filter((one) => one.sentMs >= fromMs && one.sentMs < untilMs)
      .filter((one) => kind === undefined || one.kind === kind)
      .map(({ sentMs, endMs }) => endMs - sentMs).toSorted((a, b) => a - b)
    return times[Math.min(times.length - 1, Math.floor(times.length * percent / 100))] ?? 0
  }

  /** Answers a second in that time. */
  rate(fromMs: number, untilMs: number, kind?: ShopRequest): number {
    const some = this.answers.filter((one) =>
      one.endMs >= fromMs && one.endMs < untilMs &&
      (kind === undefined || one.kind === kind)
    )
    return some.length / (untilMs - fromMs) * 1_000
  }

  summary(): string {
    const { excused, worstMs, requests } = this.caller
    const rates = (['read', 'create', 'run'] as const).map((kind) =>
      `${this.rate(this.#began, performance.now(), kind).toFixed(0)} ${kind}`
    )
    return `${this.answers.length} answers (${rates.join(', ')} a second) to ${requests} ` +
      `requests, longest ${(worstMs / 1_000).toFixed(1)} s; through doors that went down ` +
      `${excused.broken} broke, ${excused.unavailable} were answered 503`
  }

  async #send(): Promise<void> {
    let lastMs = performance.now()
    let due = 0
    while (!this.#isStopped) {
      const nowMs = performance.now()
      due += (nowMs - lastMs) / 1_000 * this.perSecond
      lastMs = nowMs
      for (; due >= 1; due--) {
        if (this.#underWay.size >= underWayMax) continue
        const one = this.#one().catch((error: unknown) =>
          void this.faults.push(String((error as Error).stack))
        )
        this.#underWay.add(one)
        void one.finally(() => this.#underWay.delete(one))
      }
      await pause(tickMs)
    }
  }

  async #one(): Promise<void> {
    const number = this.#chance.below(100)
    if (number < shares.run) return await this.#run()
    const mayCreate = number < shares.run + shares.create && this.#threads.length < threadsMax
    if (mayCreate || this.#threads.length === 0) return await this.#create()
    await this.#asked('read', 'GET', `/threads/${this.#chance.pick(this.#threads)}/state`)
  }

  async #create(): Promise<void> {
    const { thread_id: id } = await this.#asked('create', 'POST', '/threads', {}) as {
      readonly thread_id?: string
    }
    if (id === undefined) return
    this.#threads.push(id)
    this.#idle.push(id)
  }

  async #run(): Promise<void> {
    const id = this.#idle.shift()
    if (id === undefined) return
    await this.#asked('run', 'POST', `/threads/${id}/runs/wait`, { assistant_id: 'show',
      input: {} })
    this.#idle.push(id)
  }

  /** Asks until there is an answer: one that broke with its front door is asked for again. */
  async #asked(kind: ShopRequest, method: string, path: string, body?: unknown): Promise<unknown> {
    const sentMs = performance.now()
    const { isDeployed } = this
    const headers = { ...this.#options.headers,
      ...body !== undefined && { 'idempotency-key': randomUUID() } }
    for (;;) {
      const called = await this.caller.once(method, `/d/shop${path}`, body, headers)
      if (called === undefined || called.response.status === 503) {
        await pause(tickMs)
        continue
      }
      const { door, response } = called
      const text = await response.text().catch((error: unknown) => {
        this.caller.broken(door, `the answer to ${method} ${path}`, error)
      })
      if (text === undefined) continue
      const answer = JSON.parse(text) as { readonly said?: string }
      const isGood = response.ok
        ? kind !== 'run' || answer.said !== undefined
        : response.status === 409 && !isDeployed
      if (!isGood) this.faults.push(`${method} ${path}: ${response.status} ${text}`)
      this.answers.push({ kind, sentMs, endMs: performance.now(),
        ...kind === 'run' && answer.said !== undefined && { said: answer.said } })
      return answer
    }
  }
}
