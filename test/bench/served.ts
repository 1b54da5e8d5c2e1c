/** The graph behind any server of the API, through a plain HTTP client that keeps connections. */

import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
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
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 })

  constructor(name: string, url: string) {
    this.name = name
    this.#url = new URL(url)
  }

  /** A server keeps its threads. */
  reset(): void {}

  close(): void { this.#agent.destroy() }

  async wait(threadId: string, text: string): Promise<void> {
    await this.ask('POST', `/threads/${threadId}/runs/wait`, runOf(text))
  }

  async stream(threadId: string, text: string): Promise<StreamTimes> {
    const began = performance.now()
    const response = await this.#send('POST', `/threads/${threadId}/runs/stream`,
      { ...runOf(text), stream_mode: ['updates'] })
    let firstMs = 0
    let told = ''
    for await (const chunk of response) {
      told += String(chunk)
      if (firstMs === 0 && told.includes('event: metadata')) firstMs = performance.now() - began
    }
    if (!told.includes('event: updates')) throw new Error(`the stream told no update: ${told}`)
    return { firstMs, totalMs: performance.now() - began }
  }

  /** Throws where the status is not one of success. */
  async ask(method: string, path: string, body?: object): Promise<Answer> {
    const began = performance.now()
    const response = await this.#send(method, path, body)
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks)
    const parsed: unknown = text.length === 0 ? undefined : JSON.parse(text.toString())
    return { ms: performance.now() - began, bytes: text.length, body: parsed }
  }

  #send(method: string, path: string, body?: object): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    return new Promise((done, failed) => {
      const sent = request({
        agent: this.#agent, host: this.#url.hostname, port: this.#url.port, method, path,
        headers: text === undefined ? {}
          : { 'content-type': 'application/json', 'content-length': text.length },
      }, (response) => {
        if ((response.statusCode ?? 500) < 300) done(response)
        else failed(new Error(`${this.name}: ${method} ${path} answered ${response.statusCode}`))
      })
      sent.on('error', failed)
      sent.end(text)
    })
  }
}

function runOf(text: string) {
  return { assistant_id: graphId, input: turn(text), if_not_exists: 'create' }
}
