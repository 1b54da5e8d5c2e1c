/** Posts a worker's messages: all that are sent in one turn of the event loop as one post. */

import type { FromWorker, WorkerMail } from './worker-mail.ts'

/** Batches the messages of one worker, inside that worker. */
export class MessagePortBatcher {
  readonly #post: (mails: FromWorker) => void
  #mails: WorkerMail[] = []
  #flushes: (() => void)[] = []
  #scheduled = false

  constructor(post: (mails: FromWorker) => void) {
    this.#post = post
  }

  send(mail: WorkerMail): void {
    this.#mails.push(mail)
    this.#schedule()
  }

  /** Calls `flush` just before the next post. */
  schedule(flush: () => void): void {
    this.#flushes.push(flush)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      for (const flush of this.#flushes.splice(0)) flush()
      const mails = this.#mails
      this.#mails = []
      if (mails.length > 0) this.#post(mails)
    })
  }
}
