/** The answer to a body that is no JSON, as JSON-RPC has it. */

import type { HeddleError } from '../../errors.ts'
import type { ErrorForm } from '../error-body.ts'
import { isToolAddress } from './protected-resource.ts'
import { rpcCodes } from './rpc-error.ts'

/** Undefined for other errors and other addresses, which have the forms of REST. */
export function unreadableForm({ code, message }: HeddleError, url: string): ErrorForm | undefined {
  if (code !== 'malformed' || !isToolAddress(url)) return undefined
  return { body: { jsonrpc: '2.0', error: { code: rpcCodes.unreadable, message } } }
}
