/** Long answers that clients have not read yet. They take room like answers being gathered. */

import type { FastifyInstance, FastifyRequest } from 'fastify'

import { ByteBudget } from '../../../cluster/index.ts'
import type { Log } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { tenantOfNamespace } from '../../limits/index.ts'
import type { ReadQuota } from '../../limits/index.ts'
import type { Caller } from './caller.ts'
import { breakOff, whenClosed } from './ending.ts'
import type { AnyResponse } from './ending.ts'
import { detailsOf } from './exchange.ts'

/** Characters of an answer that soon fits into the buffers of its connection. */
const shortLength = 64 * 1024

/** Bounds on answers that clients have not read yet: their time and their characters. */
export interface UnreadOptions {
  /** Time in which a client must read something of its answer; a minute by default. */
  readonly patienceMs?: number
  /** Characters for one tenant; half of the room by default, so that others have the rest. */
  readonly ofTenant?: number
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly unread: UnreadAnswers
    /** Memory that all reads share. */
    readonly reads: ReadQuota
    /** Call if an answer was broken off, which gives its client no reason. */
    answerFailed(request: FastifyRequest, error: unknown): void
  }
}

/** Counts unread answers. Belongs to one front door. */
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
   * Counts an answer until it is read. Call before sending. The answer exists already, so it is
   * never refused; later ones may be. If its tenant has too much unread, the oldest answer is cut
   * off, as its client may be slow on purpose.
   */
  hold(response: AnyResponse, answer: { readonly length: number }, namespace: string): void {
    const tenant = tenantOfNamespace(namespace)
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

  /** Cuts off the client if it reads nothing for too long from now on. */
  cut(response: AnyResponse): void {
    response.setTimeout(this.#patienceMs, () => breakOff(response))
  }
}

/**
 * Holds what Fastify sends until it is read. Answers that are sent in other ways are held there.
 */
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
    // Only errors are sent before the caller is known.
    const tenant = (caller as Caller | undefined)?.tenant ?? ''
    if (typeof payload === 'string') unread.hold(raw, payload, tenant)
    done()
  })
}
