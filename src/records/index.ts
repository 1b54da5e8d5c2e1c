/** The door of the records: rows that are found by what is in them, and the assistants. */

export { assistantClient } from './assistant-client.ts'
export type { AssistantClient, AssistantName } from './assistant-client.ts'
export { assistantKind } from './assistant-actor.ts'
export type { AssistantActorParts, VersionQuery } from './assistant-actor.ts'
export type { AssistantChange, AssistantContent } from './assistant.ts'
export type {
  AssistantFilter, AssistantIndex, AssistantQuery, AssistantSort,
} from './assistant-index.ts'
export type { AssistantLog } from './assistant-log.ts'
export { heardAs, withHeard } from './heard-command.ts'
export type { RunQuery, RunStatus, RunTable } from './run-table.ts'
export type { ThreadFilter, ThreadIndex, ThreadQuery, ThreadSort, ThreadStatus }
  from './thread-index.ts'
