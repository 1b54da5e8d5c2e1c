/** Long answers that clients have not read yet: they take room, as those being gathered do. */

import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Log } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ReadQuota } from '../../limits/index.ts'
import { ByteBudget } from '../../thread/index.ts'
import type { Caller } from './caller.ts'
import { breakOff, whenClosed } from './ending.ts'
import type { AnyResponse } from './ending.ts'
import { detailsOf } from './exchange.ts'

/** An answer up to this length is soon in the buffers of its connection. */
const shortLength = 64 * 1024

export interface UnreadOptions {
  /** How long a client may read nothing of its answer; a minute by default. */
  readonly patienceMs?: number
  /** Characters of one tenant: by default half of the room, so that others have the rest. */
  readonly ofTenant?: number
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly unread: UnreadAnswers
    /** The memory that reads share. */
    readonly reads: ReadQuota
    /** To be called if an answer had to be broken off: its client was given no reason. */
    answerFailed(request: FastifyRequest, error: unknown): void
  }
}

export class UnreadAnswers {
  readonly #reads: ReadQuota
  readonly #patienceMs: number
  readonly #ofTenant: number
  readonly #budgets = new Map<string, ByteBudget<AnyResponse>>()

  constructor(reads: ReadQuota,
    { patienceMs = 60_000, ofTenant = 256 * 1024 * 1024 }: UnreadOptions) {
    this.#reads = reads
    this.#patienceMs = patienceMs
    this.#ofTenant = ofTenant
  }

  /**
   * Call before sending. The answer exists already: it is never refused, but others may be. If its
   * tenant has too much to read, the oldest is cut off: its client may be slow on purpose.
   */
  hold(response: AnyResponse, answer: { readonly length: number }, tenant: string): void {
    const { length } = answer
    if (length <= shortLength) return
    const share = this.#reads.share(tenant)
    share.hold(answer)
    const budget = this.#budgets.get(tenant) ?? new ByteBudget(this.#ofTenant)
    this.#budgets.set(tenant, budget)
    budget.hold(response, length, () => breakOff(response))
    whenClosed(response, () => {
      share[Symbol.dispose]()
      budget.release(response)
      const isLast = budget.holders === 0 && this.#budgets.get(tenant) === budget
      if (isLast) this.#budgets.delete(tenant)
    })
    this.cut(response)
  }

  /** From now on, a client that reads nothing for too long is cut off. */
  cut(response: AnyResponse): void {
    response.setTimeout(this.#patienceMs, () => breakOff(response))
  }
}

/** Holds what Fastify sends until it is read. What is sent in other ways is held there. */
export function holdAnswers(app: FastifyInstance,
  { reads, log }: { readonly reads: ReadQuota; readonly log: Log }, options: UnreadOptions): void {
  app.decorate('answerFailed', (request: FastifyRequest, error: unknown) => {
    const level = HeddleError.from(error).code === 'internal' ? 'error' : 'info'
    log[level]('An answer was broken off.', { error, ...detailsOf(request) })
  })
  const unread = new UnreadAnswers(reads, options)
  app.decorate('unread', unread)
  app.decorate('reads', reads)
  app.addHook('onSend', ({ caller }, { raw }, payload, done) => {
    // Before somebody is known, only errors are sent.
    const tenant = (caller as Caller | undefined)?.tenant ?? ''
    if (typeof payload === 'string') unread.hold(raw, payload, tenant)
    done()
  })
}
