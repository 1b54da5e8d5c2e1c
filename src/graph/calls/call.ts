/** An outgoing call of a graph, and what came back, in the same form for all clients. */

import type { TaskSite } from './task-site.ts'

/** Headers as they are on the wire, in their order. Names are in lower case. */
export type CallHeaders = readonly (readonly [name: string, value: string])[]

/**
 * fetch   Node's own `fetch`
 * undici  a copy of undici that the project loads
 * http    `node:http` or `node:https`
 */
export type CallClient = 'fetch' | 'undici' | 'http'

/** Body of a call. It can be read before the call goes out, which sends the same bytes after. */
export interface CallBody {
  /** Size in bytes; undefined if it is not known before the end. */
  readonly length: number | undefined
  /**
   * The whole body; undefined if it is larger than `maxBytes`, or if the client waits with it until
   * the server asks for it. At most that much is held in memory. Rejects if the client's own stream
   * fails. Call it before the call is decided.
   */
  read(maxBytes: number): Promise<Uint8Array | undefined>
}

/** One outgoing request. A redirect that `fetch` follows is a call of its own. */
export interface Call {
  /** Unique in the worker. */
  readonly id: number
  readonly client: CallClient
  readonly method: string
  /** Absolute, with its query, without a fragment. */
  readonly url: string
  readonly headers: CallHeaders
  readonly body: CallBody
  /** The task that made it; undefined outside of nodes, as in a factory. */
  readonly site: TaskSite | undefined
}

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number
  /** Empty if it is not known. */
  readonly statusText: string
  readonly headers: CallHeaders
}

/** An answer that is given without a request. Chunks reach the client as they are. */
export interface CallAnswer {
  readonly head: AnswerHead
  readonly body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

/**
 * done       the whole answer came
 * failed     no answer came, or its rest did not: refused, timed out, reset
 * cancelled  the client gave it up before its end
 *
 * `mayHaveLeft` is false if surely nothing of the request was sent, as without a connection.
 */
export type CallEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly error: Error; readonly mayHaveLeft: boolean }
  | { readonly kind: 'cancelled'; readonly mayHaveLeft: boolean }
