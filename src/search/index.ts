/** Finding threads, runs and assistants over all owners. */

export type { AssistantFilter, AssistantIndex, AssistantQuery, AssistantSearch,
  AssistantSort } from './assistant-index.ts'
export { askIndex } from './index-question.ts'
export type { IndexAnswer, IndexQuestion, OwnIndex } from './index-question.ts'
export { indexService, indexWire } from './index-service.ts'
export { metadataCharactersMax, requireShort } from './metadata-limit.ts'
export { pageBytes } from './run-table.ts'
export type { RunQuery, RunStatus, RunTable, RunText } from './run-table.ts'
export { scatteredIndex } from './scattered-index.ts'
export type { ScatteredIndex } from './scattered-index.ts'
export type { DueThread, DueThreads, ThreadFilter, ThreadIndex, ThreadQuery, ThreadSearch,
  ThreadSort, ThreadStatus, UnfinishedThread } from './thread-index.ts'
export { expiryAtMs, expiryStrategies, isExpired } from './time-to-live.ts'
export type { ExpiryStrategy, TimeToLiveWish } from './time-to-live.ts'
