/** Posts a worker's messages: all that are sent in one turn of the event loop as one post. */

import type { FromWorker, WorkerMail } from './worker-mail.ts'

/** Batches the messages of one worker, inside that worker. */
export class MessagePortBatcher {
  readonly #post: (mails: FromWorker, moved: ArrayBuffer[]) => void
  #mails: WorkerMail[] = []
  #moved: ArrayBuffer[] = []
  #flushes: (() => void)[] = []
  #posted: (() => void)[] = []
  #scheduled = false

  constructor(post: (mails: FromWorker, moved: ArrayBuffer[]) => void) {
    this.#post = post
  }

  /** Sends a message. `moved` is part of it, and is not copied. */
  send(mail: WorkerMail, moved?: ArrayBuffer): void {
    this.#mails.push(mail)
    if (moved) this.#moved.push(moved)
    this.#schedule()
  }

  /** Calls `flush` just before the next post. */
  schedule(flush: () => void): void {
    this.#flushes.push(flush)
    this.#schedule()
  }

  /** Resolves just after the next post, for work that no message should wait for. */
  posted(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#posted.push(resolve)
    this.#schedule()
    return promise
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      for (const flush of this.#flushes.splice(0)) flush()
      const mails = this.#mails
      this.#mails = []
      if (mails.length > 0) this.#post(mails, this.#moved.splice(0))
      for (const resolve of this.#posted.splice(0)) resolve()
    })
  }
}
