/** The answer to a body that cannot be read, as JSON-RPC has it. */

import type { HeddleError } from '../../errors.ts'
import type { ErrorForm } from '../error-body.ts'
import { rpcCodes } from './rpc-error.ts'
import type { RpcReason } from './rpc-error.ts'

/** Reasons by the codes of the reader. `invalid` is JSON of too many values or levels. */
const reasons: ReadonlyMap<string, RpcReason> = new Map([['malformed', 'unreadable'], ['invalid',
  'notAMessage']])

/** Undefined for other errors and other addresses, which have the forms of REST. */
export function unreadableForm({ code, message }: HeddleError, url: string): ErrorForm | undefined {
  const reason = reasons.get(code)
  if (reason === undefined || !isToolAddress(url)) return undefined
  return { body: { jsonrpc: '2.0', error: { code: rpcCodes[reason], message } } }
}

/** True for the routed address of the protocol. */
export function isToolAddress(url: string): boolean {
  return /^\/mcp(?:\?|$)/.test(url)
}
