/** A call of an agent, and what carries it out. */

import type { AssistantRow } from '../../../proto/gen/storage/v1/row.ts'
import type { LongJson } from '../../json/index.ts'
import type { Caller } from '../http/caller.ts'
import type { RouteParts } from '../http/route.ts'
import type { RunCaller } from '../operations/index.ts'
import type { ToolNames } from './graph-messages.ts'

/** The caller, the assistant that is called, and the operations that carry out the call. */
export interface AgentContext extends Pick<RouteParts, 'runs' | 'threads'> {
  readonly json: Pick<LongJson, 'pick'>
  readonly caller: Caller
  readonly runCaller: RunCaller
  readonly assistant: AssistantRow
  readonly tools: ToolNames
  /** Aborts when the client has left. */
  readonly left: AbortSignal
}
