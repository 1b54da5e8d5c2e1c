/** Answers in JSON. A short one is sent whole, a long one in pieces, as fast as it is read. */

import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'

import type { FastifyReply } from 'fastify'

import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ReadShare } from '../../limits/index.ts'
import { chooseGzip, gzipInto } from './compression.ts'
import { breakOff, whenClosed } from './ending.ts'
import type { AnyResponse } from './ending.ts'

/** Characters of an answer that is sent as one text. */
const shortLength = 1024 * 1024
/** Characters given to a connection at a time. Encoding more would hold up other requests. */
const pieceLength = 256 * 1024

/**
 * Memory for what is read for a reply. It counts until the reply is sent or its client has left.
 */
export function shareFor({ raw, server, request }: FastifyReply): ReadShare {
  const share = server.reads.share(request.caller.tenant)
  whenClosed(raw, () => share[Symbol.dispose]())
  return share
}

/** A signal that aborts when the client leaves before it has its answer. */
export function leftSignal({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController()
  whenClosed(raw, () => {
    if (!raw.writableFinished) left.abort(new HeddleError('unavailable', 'The caller has left.'))
  })
  return left.signal
}

/** Sends a JSON text: whole up to 1,048,576 characters, in pieces beyond. */
export function sendJson(reply: FastifyReply, text: JsonText): FastifyReply | Promise<
  FastifyReply
> {
  return text.length > shortLength
    ? sendLong(reply, text)
    : reply.type('application/json').send(text)
}

async function sendLong(reply: FastifyReply, text: JsonText): Promise<FastifyReply> {
  const { raw, server, request } = reply
  server.unread.hold(raw, text, request.caller.tenant)
  const long = new LongReply(reply)
  try {
    await long.write(text)
    long.end()
  } catch (error) {
    if (!long.isClosed) throw error
  }
  return reply
}

/** Elements of a list that come together. */
export interface ListPart {
  readonly texts: readonly JsonText[]
  readonly isLast: boolean
}

/**
 * Sends a JSON array. An error in the first part becomes a status. An error in a later part breaks
 * the answer off.
 */
export async function sendParts(reply: FastifyReply,
  parts: AsyncIterator<ListPart>): Promise<FastifyReply> {
  const { value: first } = await parts.next()
  const { texts, isLast } = (first ?? { texts: [], isLast: true }) as ListPart
  if (isLast && texts.reduce((sum, { length }) => sum + length, 0) <= shortLength) {
    await parts.return?.()
    return sendJson(reply, `[${texts.join(',')}]`)
  }
  const list = new LongList(reply)
  try {
    await list.add(texts)
    for (let next = isLast ? undefined : await parts.next(); next && !next.done;
      next = await parts.next()) await list.add((next.value as ListPart).texts)
    await list.finish()
  } catch (error) {
    if (list.isClosed) return reply
    list.breakOff()
    reply.server.answerFailed(reply.request, error)
  } finally {
    await parts.return?.()
  }
  return reply
}

/** Sends rows as a JSON array. Each row is made a text when it is its turn. */
export function sendRows<Row>(reply: FastifyReply, rows: readonly Row[],
  json: (row: Row) => JsonText): Promise<FastifyReply> {
  return sendParts(reply, partsOf(rows, json))
}

async function* partsOf<Row>(rows: readonly Row[],
  json: (row: Row) => JsonText): AsyncGenerator<ListPart, void, void> {
  let texts: JsonText[] = []
  let length = 0
  for (const [index, row] of rows.entries()) {
    const text = json(row)
    texts.push(text)
    length += text.length
    if (length <= shortLength) continue
    yield { texts, isLast: index === rows.length - 1 }
    texts = []
    length = 0
  }
  yield { texts, isLast: true }
}

/** A long answer that is being sent. */
class LongReply {
  readonly #raw: AnyResponse
  /** The response, or a stream that compresses into it. */
  readonly #out: AnyResponse | Writable
  readonly #closed = new AbortController()

  constructor(reply: FastifyReply) {
    this.#raw = reply.raw
    whenClosed(reply.raw, () => this.#closed.abort())
    const isCompressed = chooseGzip(reply)
    reply.hijack()
    reply.raw.writeHead(reply.statusCode, { ...reply.getHeaders() as OutgoingHttpHeaders,
      'content-type': 'application/json; charset=utf-8' })
    this.#out = isCompressed ? gzipInto(reply.raw) : reply.raw
    reply.server.unread.cut(reply.raw)
  }

  /** True when its client has left. */
  get isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  /** Resolves when the connection has taken the text. Throws if the connection was closed. */
  async write(text: string): Promise<void> {
    const out: Pick<ServerResponse, 'write'> = this.#out
    const { signal } = this.#closed
    // Reading the first piece of a joined text joins all of it, so other requests have a turn
    // before.
    if (text.length > shortLength) await new Promise((turn) => setImmediate(turn))
    for (let at = 0; at < text.length; at = pieceEnd(text, at)) {
      signal.throwIfAborted()
      const piece = text.slice(at, pieceEnd(text, at))
      if (!out.write(piece)) await once(this.#out, 'drain', { signal })
    }
  }

  end(): void {
    this.#out.end()
  }

  breakOff(): void {
    breakOff(this.#raw)
  }
}

/** An array that is being sent. */
class LongList extends LongReply {
  #isEmpty = true
  /** Short texts, which are sent together. */
  #waiting = ''

  /** Resolves when the connection has taken the texts. Throws if the connection was closed. */
  async add(texts: readonly JsonText[]): Promise<void> {
    for (const text of texts) {
      this.#waiting += this.#isEmpty ? '[' : ','
      this.#isEmpty = false
      if (text.length <= pieceLength) this.#waiting += text
      if (this.#waiting.length >= pieceLength || text.length > pieceLength) await this.#send()
      if (text.length > pieceLength) await this.write(text)
    }
    await this.#send()
  }

  async finish(): Promise<void> {
    await this.write(this.#isEmpty ? '[]' : ']')
    this.end()
  }

  async #send(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = ''
    await this.write(waiting)
  }
}

/** End of a piece. A character of two code units is not split. */
function pieceEnd(text: string, at: number): number {
  const end = Math.min(text.length, at + pieceLength)
  const last = text.charCodeAt(end - 1)
  return end < text.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end
}
