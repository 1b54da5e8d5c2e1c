/** The answers in a command stream that another member began: each as soon as it is known. */

import { Readable } from 'node:stream'

import type { ConverseRequest, ConverseResponse,
  DeliverRequest } from '../../../proto/gen/cluster/v1/member.ts'

/** Outcome of one command: its reply, its error, or that it is still under way. */
export type StreamAnswer = NonNullable<ConverseResponse['outcome']>

/** Answers the commands of one stream, each as soon as its reply is there. */
export class CommandStreamServer {
  readonly #said = new Readable({ objectMode: true, read: () => {} })
  /** Commands without an answer, plus one while more may come. */
  #due = 1

  constructor(commands: AsyncIterable<ConverseRequest>,
    outcomeOf: (command: DeliverRequest | undefined) => Promise<StreamAnswer>) {
    void this.#handle(commands, outcomeOf)
  }

  /** Ends when no command comes any more and all are answered. */
  [Symbol.asyncIterator](): AsyncIterator<ConverseResponse> {
    return this.#said[Symbol.asyncIterator]() as AsyncIterator<ConverseResponse>
  }

  /** Asks the other side to say nothing new. */
  end(): void {
    if (this.#due > 0) this.#send(0, { $case: 'ending', value: true })
  }

  async #handle(commands: AsyncIterable<ConverseRequest>,
    outcomeOf: (command: DeliverRequest | undefined) => Promise<StreamAnswer>): Promise<void> {
    try {
      for await (const { number, command } of commands) {
        this.#due++
        void outcomeOf(command).then((outcome) => {
          this.#send(number, outcome)
          this.#done()
        })
      }
    } catch {
      // The stream broke: nobody receives the answers.
    }
    this.#done()
  }

  #send(number: number, outcome: StreamAnswer): void {
    this.#said.push({ number, outcome } satisfies ConverseResponse)
  }

  #done(): void {
    if (--this.#due === 0) this.#said.push(null)
  }
}
