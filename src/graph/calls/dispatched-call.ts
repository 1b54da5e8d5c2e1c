/** One call of undici on its way past a gate. */

import { AnswerRelay } from './answer-relay.ts'
import type { AnswerHead, CallAnswer } from './call.ts'
import type { CallDecision, CallWatcher } from './call-gate.ts'
import type { CallControl, ClientSide, RawHeaders, WireEvents } from './handler-form.ts'
import { callHeaders, flatPairs } from './request-headers.ts'

/** Sends the request. Throws if it cannot be sent. */
export type SendRequest = (events: WireEvents,
  decision: CallDecision & { readonly kind: 'pass' }) => void

/** Carries out what was decided about a call, for a client that may give it up at any time. */
export class DispatchedCall {
  readonly #client: ClientSide
  readonly #send: SendRequest
  #relay: AnswerRelay
  #wire: CallControl | undefined
  #isCancelled = false
  /** True when the client has the end, or the error. */
  #isOver = false
  #resumed: (() => void) | undefined

  constructor(client: ClientSide, send: SendRequest) {
    this.#client = client
    this.#send = send
    this.#relay = this.#relayTo(undefined)
    client.started({ abort: (reason) => this.#abort(reason), resume: () => this.#resume() })
  }

  /** Carries out a decision that may come later. */
  async take(decided: CallDecision | Promise<CallDecision>): Promise<void> {
    try {
      this.#carryOut(await decided)
    } catch (error) {
      this.#fail(error)
    }
  }

  #carryOut(decision: CallDecision): void {
    const watcher = 'watcher' in decision ? decision.watcher : undefined
    if (this.#isCancelled) return void this.#relayTo(watcher).cancel(false)
    this.#relay = this.#relayTo(watcher)
    switch (decision.kind) {
      case 'hold':
        return
      case 'fail':
        return this.#fail(decision.error)
      case 'answer':
        return void this.#answer(decision.answer)
      case 'pass':
        return this.#send(this.#events(), decision)
    }
  }

  #relayTo(watcher: CallWatcher | undefined): AnswerRelay {
    return new AnswerRelay(watcher, (error) => this.#tell(error))
  }

  #fail(thrown: unknown): void {
    if (this.#isCancelled) return
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    const mayHaveLeft = this.#wire !== undefined
    this.#relay.end({ kind: 'failed', error, mayHaveLeft }, () => this.#tell(error))
  }

  /** The client gets no answer, or not the rest of it. */
  #tell(error: Error): void {
    this.#isOver = true
    this.#client.fail(error)
  }

  #end(trailers: RawHeaders): void {
    this.#isOver = true
    this.#deliver(() => {
      this.#client.end(trailers)
      return true
    })
  }

  /** Gives the client a part of the answer. One that throws has the error as its end. */
  #deliver(give: () => boolean): boolean {
    try {
      return give()
    } catch (thrown) {
      this.#isOver = false
      this.#abort(thrown)
      return true
    }
  }

  #abort(reason: unknown): void {
    if (this.#isCancelled || this.#isOver) return
    this.#isCancelled = true
    this.#relay.cancel(this.#wire !== undefined)
    if (this.#wire) this.#wire.abort(reason)
    this.#resumed?.()
    this.#tell(reason instanceof Error ? reason : abortError(reason))
  }

  #resume(): void {
    if (!this.#relay.resume()) return
    this.#wire?.resume()
    this.#resumed?.()
    this.#resumed = undefined
  }

  #events(): WireEvents {
    const [relay, client] = [this.#relay, this.#client]
    return {
      started: (control) => {
        this.#wire = control
        if (this.#isCancelled) control.abort(abortError(undefined))
      },
      head: (status, raw, text) => {
        if (this.#isCancelled) return true
        // Hints before the answer are no part of it.
        if (status < 200) return client.head(status, raw, text)
        return relay.head(headOf(status, raw, text),
          () => this.#deliver(() => client.head(status, raw, text)))
      },
      chunk: (chunk) => relay.chunk(chunk, () => this.#deliver(() => client.chunk(chunk))),
      end: (trailers) => relay.end({ kind: 'done' }, () => this.#end(trailers)),
      fail: (error) => this.#fail(error),
    }
  }

  async #answer({ head, body }: CallAnswer): Promise<void> {
    const [relay, client] = [this.#relay, this.#client]
    try {
      const raw = head.headers.flatMap((field) => field.map((text) => Buffer.from(text, 'latin1')))
      await this.#pace(
        relay.head(head, () => this.#deliver(() => client.head(head.status, raw, head.statusText))),
      )
      for await (const chunk of body) {
        if (this.#isCancelled) return
        const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        await this.#pace(relay.chunk(chunk, () => this.#deliver(() => client.chunk(buffer))))
      }
      if (!this.#isCancelled) relay.end({ kind: 'done' }, () => this.#end([]))
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Resolves when the client takes more. */
  async #pace(goesOn: boolean): Promise<void> {
    if (goesOn || this.#isCancelled) return
    await new Promise<void>((resolve) => {
      this.#resumed = resolve
    })
  }
}

function headOf(status: number, raw: RawHeaders, statusText: string): AnswerHead {
  return { status, statusText: statusText ?? '', headers: callHeaders(flatPairs(raw)) }
}

function abortError(reason: unknown): Error {
  return Object.assign(new Error(reason === undefined
    ? 'The request was aborted.'
    : String(reason)), { name: 'AbortError', code: 'UND_ERR_ABORTED' })
}
