/** The envelope of JSON-RPC around calls of A2A: how it is read, and how it is answered. Pure. */

import { a2aVersions } from '../../api/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { isObject, isOneOf } from '../../json/index.ts'
import { A2aError, a2aErrorOf, rpcError } from './a2a-error.ts'
import { methodOf } from './methods.ts'
import type { A2aMethod, Dialect } from './methods.ts'

/** Name that a client gives its request. */
export type RpcId = string | number | null

/** A request that can be carried out. */
export interface RpcCall extends A2aMethod {
  readonly id: RpcId
  readonly params: Readonly<Record<string, unknown>>
}

/** Characters of an id: it is part of every event of a stream. */
const idMax = 1_000

/** The request in a body. Throws A2aError. */
export function callIn(body: unknown, version: string | undefined): RpcCall {
  if (!isObject(body)) {
    throw new A2aError('invalid_request',
      'The request must be one JSON object; A2A has no batches.')
  }
  if (body['jsonrpc'] !== '2.0') throw new A2aError('invalid_request', 'jsonrpc: must be "2.0".')
  const { id, method } = body
  if (!isId(id)) {
    throw new A2aError('invalid_request', 'id: is required, as a text or a number.')
  }
  if (typeof method !== 'string') throw new A2aError('invalid_request', 'method: is required.')
  requireVersion(version)
  const called = methodOf(method)
  if (called === undefined) {
    throw new A2aError('method_not_found', `There is no method ${method.slice(0, 100)}.`)
  }
  const { params = {} } = body
  if (!isObject(params)) throw new A2aError('invalid_params', 'params: must be an object.')
  return { ...called, id, params }
}

/** The id in a body, for an answer to whatever it is. */
export function idIn(body: unknown): RpcId {
  return isObject(body) && isId(body['id']) ? body['id'] : null
}

/** The version whose errors a body is answered with. */
export function dialectIn(body: unknown): Dialect {
  const method = isObject(body) ? body['method'] : undefined
  return typeof method === 'string' ? methodOf(method)?.dialect ?? '1.0' : '1.0'
}

function isId(id: unknown): id is RpcId {
  return id === null || typeof id === 'number' ||
    (typeof id === 'string' && id.length <= idMax)
}

/** Patches of a version are compatible. Without a version, the name of the method says it. */
function requireVersion(asked: string | undefined): void {
  const version = asked?.trim() ?? ''
  if (version === '') return
  const [, minor] = /^(\d+\.\d+)(?:\.\d+)?$/.exec(version) ?? []
  if (isOneOf(a2aVersions, minor)) return
  throw new A2aError('version_not_supported',
    `A2A ${version.slice(0, 50)} is not supported: this agent speaks ${a2aVersions.join(' and ')}.`)
}

/** The answer to a request that was refused, or that failed. */
export function errorText(id: RpcId, caught: unknown, dialect: Dialect): JsonText {
  const error = rpcError(a2aErrorOf(caught), dialect)
  return JSON.stringify({ jsonrpc: '2.0', id, error })
}
