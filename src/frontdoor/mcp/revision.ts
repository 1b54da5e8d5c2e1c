/**
 * Revisions of the protocol, and which one a message is of.
 *
 * modern  from 2026-07-28 on: each request says its revision and what its client can do
 * former  up to 2025-11-25: `initialize` says both, once for a session
 */

import { isObject, objectOf } from '../../json/index.ts'
import { decodedHeader } from './encoded-header.ts'
import type { Json, Message } from './message.ts'
import { RpcError } from './rpc-error.ts'

/** Way in which a message is answered. */
export type Era = 'modern' | 'former'

const modern = '2026-07-28'
/** Two that differ in nothing that is served here. */
const former = ['2025-11-25', '2025-06-18'] as const

/** Every revision, the newest first. */
export const revisions: readonly string[] = [modern, ...former]

/** The revision that `initialize` agrees on: the asked one, or the newest that has sessions. */
export function agreedRevision(asked: unknown): string {
  return former.find((each) => each === asked) ?? former[0]
}

/** Prefix of what the protocol itself keeps in `_meta`. */
const own = 'io.modelcontextprotocol/'

/** Headers of a message that are compared with its body. */
export interface MessageHeaders {
  readonly version: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
}

/** Abilities of a client, as it says them. */
export interface ClientAbilities {
  /** True if it shows forms, so that questions of graphs may go to its user. */
  readonly answersQuestions: boolean
}

/** Reads the abilities of a client. An empty object for questions means forms. */
export function abilitiesOf(capabilities: unknown): ClientAbilities {
  const { elicitation: modes } = objectOf(capabilities)
  return { answersQuestions: isObject(modes) &&
    (modes['form'] !== undefined || modes['url'] === undefined) }
}

/** The era of a message. Throws RpcError for one that no revision has. */
export function eraOf(message: Message, headers: MessageHeaders): Era {
  const { version } = headers
  const meta = message.kind === 'answer' ? {} : objectOf(message.params['_meta'])
  const named = meta[`${own}protocolVersion`]
  if (version === undefined) {
    if (named === undefined) return 'former'
    throw mismatch('The header MCP-Protocol-Version is missing.')
  }
  if (typeof named === 'string' && named !== version) {
    throw mismatch(`The header MCP-Protocol-Version is ${version}, and the body says ${named}.`)
  }
  if ((former as readonly string[]).includes(version)) return 'former'
  if (version !== modern) throw unsupported(version)
  if (message.kind === 'request') requireModern(message, meta, headers)
  return 'modern'
}

/** Throws RpcError for a request without what each must have. */
function requireModern({ method, params }: Extract<Message, { kind: 'request' }>, meta: Json,
  headers: MessageHeaders): void {
  for (const name of ['protocolVersion', 'clientCapabilities'] as const) {
    const value = meta[own + name]
    if (name === 'protocolVersion' ? typeof value === 'string' : isObject(value)) continue
    throw new RpcError('invalidParams', `params._meta must have ${own}${name}.`, { status: 400 })
  }
  if (headers.method !== method) {
    throw mismatch(`The header Mcp-Method must be the method of the body, ${method}.`)
  }
  if (method !== 'tools/call') return
  const { name } = params
  if (headers.name !== undefined && decodedHeader(headers.name) === name) return
  throw mismatch('The header Mcp-Name must be the name of the tool, as in the body.')
}

/** Abilities of the client of a modern request. */
export function modernAbilities(params: Json): ClientAbilities {
  return abilitiesOf(objectOf(params['_meta'])[`${own}clientCapabilities`])
}

/** Name of this server, as each result of the modern era has it. */
export function modernMeta(version: string): Json {
  return { [`${own}serverInfo`]: { name: 'heddle', title: 'Heddle', version } }
}

/** The key under which messages of a subscription name it. */
export const subscriptionKey = `${own}subscriptionId`

function mismatch(message: string): RpcError {
  return new RpcError('headerMismatch', message, { status: 400 })
}

function unsupported(requested: string): RpcError {
  return new RpcError('unsupportedVersion',
    `This server speaks the revisions ${revisions.join(', ')} of the protocol.`, { status: 400,
    data: { supported: revisions, requested: requested.slice(0, 100) } })
}
