/** The envelope of JSON-RPC 2.0, as every protocol over it has it. Source: its specification. */

import type { JsonText } from '../checkpoint/index.ts'

/** Codes of errors that every protocol has. */
export const rpcErrorCodes = {
  unreadable: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
} as const

/** The answer to a request that was carried out. */
export function resultText(id: string | number | null, result: JsonText): JsonText {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`
}
