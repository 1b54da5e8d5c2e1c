/** One call of `node:http` on its way past a gate. */

import type { ClientRequest } from 'node:http'

import { AnswerRelay } from './answer-relay.ts'
import type { CallDecision, CallWatcher } from './call-gate.ts'
import { answerLocally } from './local-answers.ts'
import { watchRequest } from './request-watch.ts'
import type { RequestWrites } from './request-writes.ts'
import { changeStored } from './stored-header.ts'

/** Carries out what was decided about a request that waits for its connection. */
export class RequestedCall {
  readonly #request: ClientRequest
  readonly #writes: RequestWrites
  /** Gives the request a connection to its server. */
  readonly #connect: () => void
  #isDecided = false
  #isGivenUp = false
  #isConnected = false

  constructor(request: ClientRequest, writes: RequestWrites, connect: () => void) {
    this.#request = request
    this.#writes = writes
    this.#connect = connect
    const { destroy } = request
    request.destroy = (error?: Error) => {
      this.#isGivenUp = true
      const first = !request.destroyed
      destroy.call(request, error)
      // Node tells a client of its own abort when the request gets a connection.
      if (first && !this.#isDecided) this.#refuse(error)
      return request
    }
  }

  /** Carries out a decision that may come later. */
  async take(decided: CallDecision | Promise<CallDecision>): Promise<void> {
    try {
      this.#carryOut(decided instanceof Promise ? await decided : decided)
    } catch (error) {
      this.#isDecided = true
      this.#refuse(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #carryOut(decision: CallDecision): void {
    const watcher = 'watcher' in decision ? decision.watcher : undefined
    if (this.#isGivenUp) return new AnswerRelay(watcher, () => {}).cancel(false)
    if (decision.kind === 'hold') return
    this.#isDecided = true
    if (decision.kind === 'fail') return this.#refuse(decision.error)
    if (decision.kind === 'pass') changeStored(this.#request, decision.headers ?? {})
    this.#writes.settle(watcher?.sent && ((chunk) => watcher.sent!(chunk)))
    if (watcher) this.#watch(watcher)
    if (decision.kind === 'pass') this.#leave()
    else answerLocally(this.#request, decision.answer)
  }

  /** Sends the request. Until its connection is there, nothing of it has left. */
  #leave(): void {
    this.#request.once('socket', (socket) => {
      const connected = () => {
        this.#isConnected = true
      }
      if (socket.connecting) socket.once('connect', connected)
      else connected()
    })
    this.#connect()
  }

  #refuse(error: Error | undefined): void {
    const { onSocket } = this.#request as unknown as {
      onSocket(socket: null, error: Error | undefined): void
    }
    onSocket.call(this.#request, null, error)
  }

  #watch(watcher: CallWatcher): void {
    watchRequest(this.#request, watcher, {
      isGivenUp: () => this.#isGivenUp,
      mayHaveLeft: () => this.#isConnected,
    })
  }
}
