/** Messages of JSON-RPC: how they are read, and how answers are written. Pure. */

import type { JsonText } from '../../checkpoint/index.ts'
import { isObject, objectOf } from '../../json/index.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'

/** Any JSON object. */
export type Json = Readonly<Record<string, unknown>>

/** Id of a request, as the client chose it. */
export type RequestId = string | number

/** A message of a client. */
export type Message =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string;
    readonly params: Json }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Json }
  /** Answers a question of this server. `result` is undefined if the client has failed. */
  | { readonly kind: 'answer'; readonly id: RequestId; readonly result: Json | undefined }

/** A message that asks for an answer. */
export type Request = Extract<Message, { readonly kind: 'request' }>

/** Characters of an id of a request: it comes back in each message about it. */
const idCharactersMax = 1_000

/** Reads a body. Throws RpcError. */
export function readMessage(body: unknown): Message {
  if (body === undefined) throw new RpcError('unreadable', 'The body is empty.', { status: 400 })
  if (Array.isArray(body)) {
    throw notAMessage('Send one message in each request: this revision has no batches.')
  }
  if (!isObject(body) || body['jsonrpc'] !== '2.0') {
    throw notAMessage('The body must be an object with "jsonrpc": "2.0".')
  }
  const { id, method, params } = body
  if (id !== undefined && !isRequestId(id)) {
    throw notAMessage(`An id must be a text of ${idCharactersMax} characters at most, or an ` +
      'integer.')
  }
  if (method === undefined) return readAnswer(body, id)
  if (typeof method !== 'string') throw notAMessage('The method must be a text.')
  if (params !== undefined && !isObject(params)) {
    throw new RpcError('invalidParams', 'The params must be an object.', { status: 400 })
  }
  const asked = { method, params: objectOf(params) }
  return id === undefined
    ? { kind: 'notification', ...asked }
    : { kind: 'request', id, ...asked }
}

function readAnswer({ result, error }: Json, id: RequestId | undefined): Message {
  const isAnswer = id !== undefined && (result !== undefined) !== (error !== undefined)
  if (!isAnswer) throw notAMessage('A message must have a method, or an id and its result.')
  return { kind: 'answer', id, result: isObject(result) ? result : undefined }
}

/** True for an id that a request may have. */
export function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= idCharactersMax : Number.isSafeInteger(id)
}

/** The id of a body that may be no message; undefined if it has none. */
export function idIn(body: unknown): RequestId | undefined {
  const id = isObject(body) ? body['id'] : undefined
  return isRequestId(id) ? id : undefined
}

function notAMessage(message: string): RpcError {
  return new RpcError('notAMessage', message, { status: 400 })
}

/** The answer to a message that was not. Without an id, that of the message cannot be read. */
export function errorText(id: RequestId | undefined,
  { reason, message, data }: RpcError): JsonText {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: rpcCodes[reason], message, data } })
}

/** A notification of this server. */
export function notificationText(method: string, params?: Json): JsonText {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}
