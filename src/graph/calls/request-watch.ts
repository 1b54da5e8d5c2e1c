/** Shows the answer of a request of `node:http` to a watcher, which may hold it back. */

import type { ClientRequest, IncomingMessage } from 'node:http'

import { AnswerRelay, heldBytesMax } from './answer-relay.ts'
import type { AnswerHead } from './call.ts'
import type { CallWatcher } from './call-gate.ts'
import { callHeaders, flatPairs } from './request-headers.ts'

/** State of a request that Node's own members do not tell. */
export interface RequestState {
  /** True if the client destroyed it. */
  isGivenUp(): boolean
  mayHaveLeft(): boolean
}

type Emit = (event: string | symbol, ...values: unknown[]) => boolean

/** Replaces methods of this request and of its response. */
export function watchRequest(request: ClientRequest, watcher: CallWatcher,
  state: RequestState): void {
  new RequestWatch(request, watcher, state).begin()
}

class RequestWatch {
  readonly #request: ClientRequest
  readonly #state: RequestState
  readonly #relay: AnswerRelay
  readonly #emit: Emit
  /** The client knows the response. */
  #isDelivered = false
  /** Set while the end of the request is held back with its answer. */
  #isHeld: boolean
  #isClosed = false
  #response: IncomingMessage | undefined

  constructor(request: ClientRequest, watcher: CallWatcher, state: RequestState) {
    this.#request = request
    this.#state = state
    this.#emit = request.emit.bind(request)
    this.#isHeld = watcher.holds === 'answer'
    this.#relay = new AnswerRelay(watcher, (error) => this.#fail(error))
  }

  begin(): void {
    this.#request.emit = (event: string | symbol, ...values: unknown[]) => {
      switch (event) {
        case 'response':
          this.#answered(values[0] as IncomingMessage)
          return true
        case 'error':
          return this.#relay.isEnded ? this.#emit(event, ...values) : this.#failed(values)
        case 'close':
          this.#isClosed = true
          return this.#isHeld || this.#emit(event, ...values)
        default:
          return this.#emit(event, ...values)
      }
    }
  }

  #answered(response: IncomingMessage): void {
    this.#response = response
    this.#watchBody(response)
    this.#relay.head(headOf(response), () => {
      this.#isDelivered = true
      if (!this.#emit('response', response)) response.resume()
    })
  }

  /** The request got no answer. */
  #failed(values: readonly unknown[]): boolean {
    const mayHaveLeft = this.#state.mayHaveLeft()
    const tell = () => {
      this.#emit('error', ...values)
      this.#open()
    }
    if (this.#state.isGivenUp()) {
      this.#relay.cancel(mayHaveLeft)
      tell()
    } else {
      this.#relay.end({ kind: 'failed', error: values[0] as Error, mayHaveLeft }, tell)
    }
    return true
  }

  #watchBody(response: IncomingMessage): void {
    const push = response.push.bind(response)
    let bytes = 0
    let isComplete = false
    response.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk === null) {
        // Node says it again when the connection is closed.
        if (!isComplete) {
          isComplete = true
          this.#relay.end({ kind: 'done' }, () => {
            push(null)
            this.#open()
          })
        }
        return false
      }
      bytes += chunk.byteLength
      let takesMore = bytes < heldBytesMax
      this.#relay.chunk(chunk, () => {
        takesMore = push(chunk, encoding)
      })
      return takesMore
    }
    response.once('close', () => this.#closed(response))
  }

  /** The response has ended, or is cut. */
  #closed(response: IncomingMessage): void {
    const { errored } = response
    if (!this.#relay.isEnded && errored !== null && !this.#state.isGivenUp()) {
      return this.#relay.end({ kind: 'failed', error: errored, mayHaveLeft: true }, () => {
        if (!this.#isDelivered) this.#emit('error', errored)
        this.#open()
      })
    }
    this.#relay.cancel(true)
    if (!this.#isDelivered && this.#isHeld) this.#emit('error', errored ?? new Error('aborted'))
    this.#open()
  }

  /** The watcher refuses the answer. */
  #fail(error: Error): void {
    if (this.#isDelivered) this.#response?.destroy(error)
    else {
      this.#emit('error', error)
      this.#request.destroy()
    }
    this.#open()
  }

  #open(): void {
    if (this.#isHeld && this.#isClosed) this.#emit('close')
    this.#isHeld = false
  }
}

function headOf(response: IncomingMessage): AnswerHead {
  return { status: response.statusCode ?? 0, statusText: response.statusMessage ?? '',
    headers: callHeaders(flatPairs(response.rawHeaders)) }
}
