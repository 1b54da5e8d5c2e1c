/** The door of the records: rows that are found by what is in them, and the assistants. */

export { assistantClient } from './assistant-client.ts'
export type { AssistantClient, AssistantName } from './assistant-client.ts'
export { assistantKind, assistantWire } from './assistant-actor.ts'
export type { AssistantActorParts, VersionQuery } from './assistant-actor.ts'
export type { AssistantChange, AssistantContent } from './assistant.ts'
export type {
  AssistantFilter, AssistantIndex, AssistantQuery, AssistantSearch, AssistantSort,
} from './assistant-index.ts'
export type { AssistantLog } from './assistant-log.ts'
export { askIndex } from './index-question.ts'
export type { IndexAnswer, IndexQuestion, OwnIndex } from './index-question.ts'
export { indexService, indexWire } from './index-service.ts'
export { heardAs, unlessGoneByThis, withHeard } from './heard-command.ts'
export type { RunQuery, RunStatus, RunTable } from './run-table.ts'
export { scatteredIndex } from './scattered-index.ts'
export type { ScatterOptions, ScatteredIndex } from './scattered-index.ts'
export type {
  ThreadFilter, ThreadIndex, ThreadQuery, ThreadSearch, ThreadSort, ThreadStatus, UnfinishedThread,
} from './thread-index.ts'
