/** Receives the traces of workers, on their way to the platform. */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { TraceBody } from '../engine/step-traces.ts'
import type { WorkerLink } from './worker-link.ts'
import type { WorkerMail } from './worker-mail.ts'

/** Time limit for an orderly end of a worker or a process to hand over traces and recordings. */
export const handOverMs = 3_000

/**
 * Writes spans of a tenant, which a process of the deployment with this id sent. Rejects if they
 * cannot be written.
 */
export type WriteTraces = (body: TraceBody, deployment?: string) => Promise<void>

/** Takes the traces of all workers. Belongs to the graph host. */
export class TraceIntake {
  #write: WriteTraces | undefined
  /** Callers that wait for a worker's traces, in order. */
  readonly #flushing = new Map<WorkerLink, (() => void)[]>()

  /** From now on traces are written. Before, workers try again. */
  writeWith(write: WriteTraces): void {
    this.#write = write
  }

  /** Handles what a worker sent about traces. */
  mail(link: WorkerLink, mail: WorkerMail & { type: 'trace' | 'flushed' }): void {
    if (mail.type === 'flushed') this.#flushing.get(link)?.shift()?.()
    else void this.#take(link, mail)
  }

  /** Lets workers write what they hold. Resolves when they have, or at the deadline. */
  async flush(links: Iterable<WorkerLink>, deadline: AbortSignal): Promise<void> {
    const ready = [...links].filter(({ state }) => state === 'ready')
    if (deadline.aborted) return
    const flushed = Promise.all(ready.map((link) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#flushing.set(link, [...this.#flushing.get(link) ?? [], resolve])
      link.post({ type: 'flush' })
      return promise
    }))
    const { promise: late, resolve } = Promise.withResolvers<void>()
    deadline.addEventListener('abort', () => resolve(), { once: true })
    await Promise.race([flushed, late])
  }

  /** Resolves when these workers have written their traces and recordings, or after a limit. */
  async handOver(links: Iterable<WorkerLink>, env: Pick<Env, 'after'>): Promise<void> {
    const limit = new AbortController()
    const stop = env.after(handOverMs, () => limit.abort())
    await this.flush(links, limit.signal)
    stop()
  }

  /** Nothing more comes of this worker. */
  ended(link: WorkerLink): void {
    for (const resolve of this.#flushing.get(link) ?? []) resolve()
    this.#flushing.delete(link)
  }

  async #take(link: WorkerLink,
    { type: _, tracing, ...body }: WorkerMail & { type: 'trace' }): Promise<void> {
    link.post({ type: 'traced', tracing, status: await this.#statusOf(link, body) })
  }

  async #statusOf(link: WorkerLink, body: TraceBody): Promise<number> {
    // User code may have sent it, in the name of others.
    if (!link.hasServed(body.tenant)) return 403
    if (!this.#write) return 503
    try {
      await this.#write(body)
      return 202
    } catch (error) {
      return HeddleError.from(error).httpStatus
    }
  }
}
