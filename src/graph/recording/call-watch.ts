/** Follows one call for its recording. */

import type { AnswerHead, Call, CallEnd } from '../calls/call.ts'
import type { CallWatcher } from '../calls/call-gate.ts'
import type { HideSecrets } from './hidden-bytes.ts'
import type { RecordedBody, RecordedCall, RecordedEnd } from './recording.ts'
import { recordedHeaders, recordedUrl } from './recorded-url.ts'
import type { RecordingRoom } from './recording-room.ts'
import type { RunSecrets } from './run-secrets.ts'
import { redactedAnswer, redactedRequest } from './redacted-body.ts'

/** Bytes of a request and of an answer that are kept. */
export const bodyBytesMax = { request: 1024 * 1024, answer: 4 * 1024 * 1024 } as const

/** Number and clock of a call that is recorded. */
export interface WatchedCall {
  readonly call: Call
  readonly no: number
  readonly ordinal: number
  readonly room: RecordingRoom
  readonly secrets: RunSecrets
  /** Milliseconds since 1970, and of a clock that never goes back. */
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  /** Called once, when the call has ended. */
  readonly ended: () => void
}

const timeouts: ReadonlySet<string> = new Set(['ETIMEDOUT', 'ESOCKETTIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/** A body that is kept until it has more than its bound. */
class KeptBody {
  readonly #max: number
  readonly #room: RecordingRoom
  chunks: Uint8Array[] = []
  bytes = 0
  isCut = false

  constructor(max: number, room: RecordingRoom) {
    this.#max = max
    this.#room = room
  }

  add(chunk: Uint8Array): void {
    this.bytes += chunk.byteLength
    if (this.isCut) return
    if (this.bytes > this.#max || !this.#room.take(chunk.byteLength)) return this.cut()
    this.chunks.push(Uint8Array.from(chunk))
  }

  /** Drops what is kept. */
  cut(): void {
    this.isCut = true
    this.#room.free(bytesIn(this.chunks))
    this.chunks = []
  }

  recorded(chunks: readonly Uint8Array[] = []): RecordedBody {
    return { bytes: this.bytes, chunks, isCut: this.isCut }
  }
}

/** Sees what a client sends and gets. */
export class CallWatch implements CallWatcher {
  readonly #watched: WatchedCall
  readonly #request: KeptBody
  readonly #answer: KeptBody
  readonly #atMs: number
  readonly #fromMs: number
  #head: AnswerHead | undefined
  #headMs: number | null = null
  #endMs = 0
  #end: CallEnd | undefined
  #isClosed = false

  constructor(watched: WatchedCall) {
    this.#watched = watched
    this.#atMs = watched.nowMs()
    this.#fromMs = watched.monotonicMs()
    this.#request = new KeptBody(bodyBytesMax.request, watched.room)
    this.#answer = new KeptBody(bodyBytesMax.answer, watched.room)
  }

  readonly sent = (chunk: Uint8Array): void => {
    if (!this.#isClosed) this.#request.add(chunk)
  }

  readonly head = (head: AnswerHead): void => {
    this.#head = head
    this.#headMs = this.#elapsedMs()
  }

  readonly chunk = (chunk: Uint8Array): void => {
    if (!this.#isClosed) this.#answer.add(chunk)
  }

  readonly ended = (end: CallEnd): void => {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end = end
    this.#endMs = this.#elapsedMs()
    this.#watched.ended()
  }

  /** Ends the watch of a call that goes on. What comes later is not seen. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#endMs = this.#elapsedMs()
  }

  /** Bytes that are kept of it. */
  get bytes(): number {
    return bytesIn(this.#request.chunks) + bytesIn(this.#answer.chunks)
  }

  /** The call as it was when its watch ended: without compression and secrets. */
  async recorded(): Promise<RecordedCall> {
    const { call, no, ordinal, secrets: { hide, learn } } = this.#watched
    await this.#readUnsent()
    const { headers = [], status = 0 } = this.#head ?? {}
    const request = await redactedRequest(this.#request.chunks, call.headers, hide)
    if (request === undefined) this.#request.cut()
    const answer = await redactedAnswer(this.#answer.chunks, headers, hide, learn)
    if (answer === undefined) this.#answer.cut()
    const { site } = call
    return {
      no,
      ordinal,
      site: site
        ? { step: site.step, nodes: site.nodes, path: site.path, attempt: site.attempt }
        : null,
      client: call.client,
      method: call.method,
      url: recordedUrl(call.url, hide),
      atMs: this.#atMs,
      headMs: this.#headMs,
      endMs: this.#endMs,
      request: this.#request.recorded(request),
      head: this.#head ? { status, headers: recordedHeaders(headers, hide) } : null,
      answer: this.#answer.recorded(answer),
      end: this.#end ? endOf(this.#end) : 'open',
      failure: failureOf(this.#end, hide),
    }
  }

  /** Reads the request of a call that was answered without being sent. It is in memory then. */
  async #readUnsent(): Promise<void> {
    const { call: { body } } = this.#watched
    if (this.#request.bytes > 0 || !body.length) return
    const whole = await body.read(bodyBytesMax.request).catch(() => undefined)
    if (whole !== undefined && whole.byteLength > 0) return this.#request.add(whole)
    this.#request.bytes = body.length
    this.#request.cut()
  }

  #elapsedMs(): number {
    return Math.round((this.#watched.monotonicMs() - this.#fromMs) * 1_000) / 1_000
  }
}

function endOf(end: CallEnd): RecordedEnd {
  if (end.kind === 'done') return 'done'
  if (end.kind === 'cancelled') return 'aborted'
  if (timeouts.has(codeOf(end.error))) return 'timed_out'
  return end.mayHaveLeft ? 'reset' : 'refused'
}

function failureOf(end: CallEnd | undefined, hide: HideSecrets): RecordedCall['failure'] {
  if (end?.kind !== 'failed') return null
  return { code: codeOf(end.error), message: hide(String(end.error.message)).slice(0, 1_000) }
}

function codeOf(error: Error): string {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : error.name
}

function bytesIn(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
