/**
 * A minimal HTTP/1.1 client: one kept connection, one request at a time. Node's own client takes a
 * fifth of the time of a run, and only the server is to be measured.
 */

import { connect } from 'node:net'
import type { Socket } from 'node:net'

export interface BareResponse {
  readonly status: number
  readonly body: Buffer
}

/** Called after each piece of the body, with everything received so far. */
export type Progress = (text: string) => void

const headEnd = Buffer.from('\r\n\r\n')

export class BareClient {
  readonly #url: URL
  readonly #more: string
  readonly #socket: Socket
  /** Received and not yet consumed; joined only when it is read. */
  #pieces: Buffer[] = []
  #bytes = 0
  #arrived = () => {}
  #ended: Error | undefined

  /** Each request has these headers beside those of its body. */
  constructor(url: URL, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url
    this.#more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
    this.#socket = connect(Number(url.port), url.hostname)
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (piece) => {
      this.#pieces.push(piece)
      this.#bytes += piece.length
      this.#arrived()
    })
    this.#socket.on('error', (error) => {
      this.#ended = error
    })
    this.#socket.on('close', () => {
      this.#ended ??= new Error(`${url.host} closed the connection`)
      this.#arrived()
    })
  }

  /** Whether the connection has ended: servers close idle ones. */
  get ended(): boolean {
    return this.#ended !== undefined
  }

  close(): void {
    this.#socket.destroy()
  }

  async ask(method: string, path: string, body?: object,
    progress?: Progress): Promise<BareResponse> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const about = body === undefined
      ? ''
      : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`
    const head =
      `${method} ${path} HTTP/1.1\r\nhost: ${this.#url.host}\r\n${this.#more}${about}\r\n`
    this.#socket.write(head + text)
    return this.#response(progress)
  }

  async #response(progress: Progress | undefined): Promise<BareResponse> {
    const head = await this.#until(() => {
      const end = this.#received().indexOf(headEnd)
      return end < 0 ? undefined : this.#take(end + headEnd.length).toString('latin1')
    })
    const status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length !== undefined) return { status, body: await this.#exactly(Number(length)) }
    const chunked = /\r\ntransfer-encoding: *chunked/i.test(head)
    return { status, body: chunked ? await this.#chunks(progress) : Buffer.alloc(0) }
  }

  async #chunks(progress: Progress | undefined): Promise<Buffer> {
    const chunks: Buffer[] = []
    let seen = ''
    for (;;) {
      const size = await this.#until(() => {
        const end = this.#received().indexOf('\r\n')
        return end < 0 ? undefined : this.#take(end + 2).toString('latin1')
      })
      const chunk = (await this.#exactly(Number.parseInt(size, 16) + 2)).subarray(0, -2)
      if (chunk.length === 0) return Buffer.concat(chunks)
      chunks.push(chunk)
      if (progress) progress(seen += chunk.toString())
    }
  }

  #exactly(bytes: number): Promise<Buffer> {
    return this.#until(() => (this.#bytes < bytes ? undefined : this.#take(bytes)))
  }

  #received(): Buffer {
    const [first] = this.#pieces
    if (first !== undefined && this.#pieces.length === 1) return first
    const all = Buffer.concat(this.#pieces)
    this.#pieces = [all]
    return all
  }

  #take(bytes: number): Buffer {
    const received = this.#received()
    const left = received.subarray(bytes)
    this.#pieces = left.length > 0 ? [left] : []
    this.#bytes = left.length
    return received.subarray(0, bytes)
  }

  /** The result of `find` as soon as enough has been received. */
  async #until<Found>(find: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      if (this.#ended) throw this.#ended
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#arrived = resolve
      await promise
    }
  }
}
