/** The graph behind any server of the API, through a bare HTTP client that keeps connections. */

import { BareClient } from './bare-client.ts'
import type { BareResponse, Progress } from './bare-client.ts'
import { graphId, turn } from './target.ts'
import type { StreamTimes, Target } from './target.ts'

/** How long an answer took from the request to its last byte, and how long it is. */
export interface Answer {
  readonly ms: number
  readonly bytes: number
  readonly body: unknown
}

export class Served implements Target {
  readonly name: string
  readonly #url: URL
  readonly #resting: BareClient[] = []

  constructor(name: string, url: string) {
    this.name = name
    this.#url = new URL(url)
  }

  /** Does nothing: a server keeps its threads. */
  reset(): void {}

  close(): void {
    for (const client of this.#resting) client.close()
  }

  async wait(threadId: string, text: string): Promise<void> {
    await this.ask('POST', `/threads/${threadId}/runs/wait`, runOf(text))
  }

  async stream(threadId: string, text: string): Promise<StreamTimes> {
    const began = performance.now()
    let firstMs = 0
    const { body } = await this.#send('POST', `/threads/${threadId}/runs/stream`, { ...runOf(text),
      stream_mode: ['updates'] }, (seen) => {
      if (firstMs === 0 && seen.includes('event: metadata')) firstMs = performance.now() - began
    })
    const totalMs = performance.now() - began
    if (!body.includes('event: updates')) throw new Error(`the stream told no update: ${body}`)
    return { firstMs, totalMs }
  }

  /** Throws if the status is not one of success. */
  async ask(method: string, path: string, body?: object): Promise<Answer> {
    const began = performance.now()
    const answer = await this.#send(method, path, body)
    const parsed: unknown = answer.body.length === 0
      ? undefined
      : JSON.parse(answer.body.toString())
    return { ms: performance.now() - began, bytes: answer.body.length, body: parsed }
  }

  #client(): BareClient {
    for (let rested = this.#resting.pop(); rested !== undefined; rested = this.#resting.pop()) {
      if (!rested.ended) return rested
    }
    return new BareClient(this.#url)
  }

  async #send(method: string, path: string, body?: object,
    progress?: Progress): Promise<BareResponse> {
    const client = this.#client()
    const response = await client.ask(method, path, body, progress)
    this.#resting.push(client)
    if (response.status < 300) return response
    throw new Error(`${this.name}: ${method} ${path} answered ${response.status}`)
  }
}

function runOf(text: string) {
  return { assistant_id: graphId, input: turn(text), if_not_exists: 'create' }
}
