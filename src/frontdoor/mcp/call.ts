/** A call of a tool: what was asked, and what its answers have in common. */

import type { Env } from '../../../cluster/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { memberOf, objectOf } from '../../json/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { Caller } from '../http/caller.ts'
import type { RouteParts } from '../http/route.ts'
import { resultText } from '../json-rpc.ts'
import type { Json, RequestId } from './message.ts'
import { modernMeta } from './revision.ts'
import type { Era } from './revision.ts'
import type { Session } from './session.ts'
import type { ResultMembers } from './tool-result.ts'

/** Parts that the protocol uses. */
export interface McpParts
  extends Pick<RouteParts, 'runs' | 'threads' | 'assistants' | 'ticker' | 'quotas'> {
  readonly json: LongJson
  readonly env: Env
  /** The version of this server. */
  readonly version: string
}

/** A call of a tool. */
export interface ToolCall {
  readonly id: RequestId
  readonly era: Era
  /** The assistant behind the tool: its id, or the graph whose own it is. */
  readonly assistant: string
  /** The context of the run; undefined if the client names none. */
  readonly context: Json | undefined
  /** True if questions of the graph may go to the user of the client. */
  readonly answersQuestions: boolean
  /** Under which progress is reported; undefined if nobody asked for it. */
  readonly progressToken: RequestId | undefined
  /** The session; undefined where there is none. */
  readonly session: Session | undefined
}

/** True for a call whose client may come back for its answer, or be asked for more. */
export function isKept({ era, answersQuestions, progressToken, session }: ToolCall): boolean {
  return answersQuestions ||
    (era === 'former' && session !== undefined && progressToken !== undefined)
}

/** True for a call that is answered by a stream of events. */
export function isStreamed({ era, answersQuestions, progressToken }: ToolCall): boolean {
  return progressToken !== undefined || (era === 'former' && answersQuestions)
}

/** Members that every result of an era has. */
export function membersOf({ era }: Pick<ToolCall, 'era'>, version: string,
  type = 'complete'): ResultMembers {
  return era === 'former' ? {} : { resultType: type, _meta: modernMeta(version) }
}

/** The answer to a request with this result. */
export function answerText({ id, era }: Pick<ToolCall, 'id' | 'era'>, version: string,
  result: object): JsonText {
  const members = membersOf({ era }, version)
  const meta = { ...objectOf(memberOf(result, '_meta')), ...objectOf(memberOf(members, '_meta')) }
  return resultText(id,
    JSON.stringify({ ...result, ...members, ...Object.keys(meta).length > 0 && { _meta: meta } }))
}

/** Name of the caller, as far as it decides whose a question is. */
export function principalOf({ identity }: Pick<Caller, 'identity'>): string {
  if (identity.kind === 'login') return identity.hash
  return identity.kind === 'user' ? identity.id : ''
}
