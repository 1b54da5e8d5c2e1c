/** Asks workers about graphs and states: a second one if the first does not answer soon. */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { CheckpointSource } from '../execution.ts'
import { choose } from './turns/worker-choice.ts'
import type { WorkerLink } from './worker-link.ts'
import { unwrap } from './worker-mail.ts'
import type { AnswerTo, GraphInquiry, Result, WorkerMail } from './worker-mail.ts'
import type { WorkerPool } from './worker-pool.ts'

interface Asking {
  readonly inquiry: GraphInquiry
  readonly source: CheckpointSource | undefined
  readonly reply: PromiseWithResolvers<unknown>
  /** Workers that were asked and have not answered, by job. */
  readonly asked: Map<number, WorkerLink>
  /** Number of workers that ended while they were asked. */
  losses: number
  /** Reads of checkpoints in progress, and the bytes of what was read. */
  reads: number
  bytes: number
  stopTimers: () => void
}

/** Time without an answer after which another worker is asked as well. */
const hedgeAfterMs = 250
/**
 * Time if the first worker waits for what it reads, or has read a large state. Two workers would
 * take twice the memory.
 */
const lateHedgeMs = 5_000
const largeBytes = 1024 * 1024
/** Long, because reading a large state or building a schema may take a while. */
const deadlineMs = 30_000
const lossesMax = 2
/** Shorter, because a caller waits to store something. */
const embedMs = 10_000

/** Sends questions to workers. Belongs to the graph host. */
export class GraphQueries {
  readonly #env: Env
  readonly #pool: WorkerPool
  readonly #nextJob: () => number
  readonly #askings = new Map<number, Asking>()
  /** Inquiries that wait for a worker: for the first one, or for an additional one. */
  readonly #waiting = new Set<Asking>()

  constructor(env: Env, pool: WorkerPool, nextJob: () => number) {
    this.#env = env
    this.#pool = pool
    this.#nextJob = nextJob
  }

  /**
   * Asks a worker. Throws what the graph throws as `graph_failed`, `unavailable` if no worker
   * answers, and the reason of `cancelled` when that aborts.
   */
  async ask<Inquiry extends GraphInquiry>(inquiry: Inquiry, source?: CheckpointSource,
    cancelled?: AbortSignal): Promise<AnswerTo<Inquiry>> {
    cancelled?.throwIfAborted()
    // Workers answer each kind of inquiry in its own form.
    return await this.#reply(inquiry, source, cancelled) as AnswerTo<Inquiry>
  }

  #reply(inquiry: GraphInquiry, source: CheckpointSource | undefined,
    cancelled: AbortSignal | undefined): Promise<unknown> {
    const reply = Promise.withResolvers<unknown>()
    const asking: Asking = { inquiry, source, reply, asked: new Map(), losses: 0, reads: 0,
      bytes: 0, stopTimers: () => {} }
    const isEmbed = inquiry.kind === 'embed'
    // Embeddings are not asked for twice, as each call costs money.
    let stopHedge = isEmbed ? () => {} : this.#env.after(hedgeAfterMs, () => {
      if (asking.reads === 0 && asking.bytes < largeBytes) return this.#send(asking)
      stopHedge = this.#env.after(lateHedgeMs, () => this.#send(asking))
    })
    const patienceMs = isEmbed ? embedMs : deadlineMs
    const stopDeadline = this.#env.after(patienceMs,
      () => this.#end(asking, () => reply.reject(unanswered(inquiry, patienceMs / 1_000))))
    const giveUp = () => this.#end(asking, () => reply.reject(cancelled!.reason))
    cancelled?.addEventListener('abort', giveUp)
    asking.stopTimers = () => {
      stopHedge()
      stopDeadline()
      cancelled?.removeEventListener('abort', giveUp)
    }
    this.#send(asking)
    return reply.promise
  }

  /** Sends what waits. Call when a worker may be free. */
  pump(): void {
    for (const asking of [...this.#waiting]) this.#send(asking)
  }

  /** The checkpoints of the thread that a job of this worker asks about. */
  sourceOf(link: WorkerLink, job: number): CheckpointSource | undefined {
    return this.#askingOf(link, job)?.source
  }

  /** Notes that a job reads checkpoints. Call the result with their bytes when they are read. */
  noteRead(link: WorkerLink, job: number): (bytes: number) => void {
    const asking = this.#askingOf(link, job)
    if (asking) asking.reads += 1
    return (bytes) => {
      if (!asking) return
      asking.reads -= 1
      asking.bytes += bytes
    }
  }

  mail(link: WorkerLink, mail: WorkerMail): void {
    if (mail.type === 'answer') this.#answer(link, mail.job, mail.result)
  }

  /** The worker died, perhaps because of the inquiry. */
  ended(link: WorkerLink): void {
    for (const asking of this.#lose(link)) {
      asking.losses += 1
      if (asking.asked.size > 0) continue
      if (asking.losses <= lossesMax) this.#send(asking)
      else this.#end(asking, () =>
          asking.reply.reject(
            new HeddleError('unavailable', 'The workers that were asked died before an answer.'),
          ))
    }
  }

  /** The worker will not answer, as it is kept for an execution. */
  withdrawn(link: WorkerLink): void {
    for (const asking of this.#lose(link)) if (asking.asked.size === 0) this.#send(asking)
  }

  /** Rejects all open inquiries. */
  close(): void {
    for (const asking of new Set([...this.#askings.values(), ...this.#waiting])) {
      this.#end(asking, () =>
        asking.reply.reject(
          new HeddleError('unavailable', 'The graph host is closed.'),
        ))
    }
  }

  /** Removes and returns the inquiries that a worker was asked. */
  #lose(link: WorkerLink): Asking[] {
    const lost = [...this.#askings].filter(([job, { asked }]) => asked.get(job) === link)
    for (const [job, asking] of lost) {
      asking.asked.delete(job)
      this.#askings.delete(job)
    }
    return lost.map(([, asking]) => asking)
  }

  /** Asks one more worker, or waits until one is free that was not asked yet. */
  #send(asking: Asking): void {
    const asked = [...asking.asked.values()]
    const link = choose(this.#pool.members.filter((member) => !asked.includes(member)))
    if (!link) return void this.#waiting.add(asking)
    this.#waiting.delete(asking)
    const job = this.#nextJob()
    asking.asked.set(job, link)
    this.#askings.set(job, asking)
    link.post({ type: 'inquire', job, inquiry: asking.inquiry })
  }

  /** Undefined if this worker was not asked. A worker answers for itself only. */
  #askingOf(link: WorkerLink, job: number): Asking | undefined {
    const asking = this.#askings.get(job)
    return asking?.asked.get(job) === link ? asking : undefined
  }

  #answer(link: WorkerLink, job: number, result: Result<unknown>): void {
    const asking = this.#askingOf(link, job)
    if (!asking) return
    this.#askings.delete(job)
    asking.asked.delete(job)
    this.#end(asking, () => {
      try {
        asking.reply.resolve(unwrap(result, 'graph_failed'))
      } catch (error) {
        asking.reply.reject(error)
      }
    })
  }

  /** Ends an inquiry. Workers that have not answered are asked to stop. */
  #end(asking: Asking, settle: () => void): void {
    asking.stopTimers()
    this.#waiting.delete(asking)
    for (const [job, link] of asking.asked) {
      this.#askings.delete(job)
      link.post({ type: 'abort', job })
    }
    settle()
  }
}

/** A retryable error: a graph that hangs mostly waits for something that is unreachable for now. */
function unanswered(inquiry: GraphInquiry, seconds: number): HeddleError {
  const who = inquiry.kind === 'embed'
    ? 'The embedding of store.index.embed'
    : `Graph "${inquiry.graphId}"`
  const what = inquiry.kind === 'embed' ? 'it' : 'the function that makes it'
  return new HeddleError('unavailable', `${who} did not answer in ${seconds} seconds: ${what} ` +
    'may wait for what is out of reach.', { retryAfterSeconds: seconds })
}
