/** The questions that a graph process was asked, as the server sees them. */

import { HeddleError } from '../../errors.ts'
import type { CheckpointSource } from '../execution.ts'
import { unwrap } from '../pool/worker-mail.ts'
import type { AnswerTo } from '../pool/worker-mail.ts'
import type { ProcessPost } from './child-executions.ts'
import type { FromProcess, ProcessInquiry } from './process-mail.ts'

interface Asked {
  readonly source: CheckpointSource | undefined
  readonly reply: PromiseWithResolvers<unknown>
}

/** Asks one process. The process itself gives up on workers that do not answer. */
export class ChildQuestions {
  readonly #post: ProcessPost
  readonly #asked = new Map<number, Asked>()
  #last = 0
  /** Why nothing is answered any more; undefined while the process lives. */
  #ended: HeddleError | undefined

  constructor(post: ProcessPost) {
    this.#post = post
  }

  /**
   * Throws what the graph throws as `graph_failed`, `unavailable` without an answer, and the reason
   * of `cancelled` when that aborts.
   */
  async ask<Inquiry extends ProcessInquiry>(inquiry: Inquiry, source?: CheckpointSource,
    cancelled?: AbortSignal): Promise<AnswerTo<Inquiry>> {
    cancelled?.throwIfAborted()
    if (this.#ended) throw this.#ended
    const asking = ++this.#last
    const reply = Promise.withResolvers<unknown>()
    this.#asked.set(asking, { source, reply })
    const giveUp = () => {
      this.#post.send({ type: 'cancel', asking })
      reply.reject(cancelled!.reason)
    }
    cancelled?.addEventListener('abort', giveUp)
    this.#post.send({ type: 'ask', asking, inquiry })
    try {
      // The process answers each kind of inquiry in its own form.
      return await reply.promise as AnswerTo<Inquiry>
    } finally {
      cancelled?.removeEventListener('abort', giveUp)
      this.#asked.delete(asking)
    }
  }

  /** The checkpoints that a question is about. */
  sourceOf(asking: number): CheckpointSource | undefined {
    return this.#asked.get(asking)?.source
  }

  answer({ asking, result }: FromProcess & { type: 'answer' }): void {
    const reply = this.#asked.get(asking)?.reply
    try {
      reply?.resolve(unwrap(result, 'graph_failed'))
    } catch (error) {
      reply?.reject(error)
    }
  }

  /** Rejects all that were asked, and all that will be. */
  end(reason: string): void {
    this.#ended = new HeddleError('unavailable', reason)
    for (const { reply } of this.#asked.values()) reply.reject(this.#ended)
  }
}
