/** Finding threads, runs, assistants and crons over all owners. */

export type { AssistantFilter, AssistantIndex, AssistantQuery, AssistantSearch,
  AssistantSort } from './assistant-index.ts'
export { aheadUntilMs } from './cron-index.ts'
export type { CronFilter, CronIndex, CronQuery, CronSearch, CronSort, DueCron,
  DueCrons } from './cron-index.ts'
export { askIndex } from './index-question.ts'
export type { IndexAnswer, IndexQuestion, OwnIndex } from './index-question.ts'
export { indexService, indexWire } from './index-service.ts'
export { hasWords, pageOfNamespaces, passes } from './item-filter.ts'
export { deletedMs, isAlive, itemId, labelsOf, namespaceText } from './item-index.ts'
export type { FoundItem, ItemIndex, ItemName, ItemQuery, ItemSearch, Namespace, NamespaceCondition,
  NamespaceQuery } from './item-index.ts'
export { matchesMetadata, readMetadataFilter } from './metadata-filter.ts'
export type { MetadataFilter } from './metadata-filter.ts'
export { requireShort } from './metadata-limit.ts'
export { graphIdOf, isMeant, pageBytes } from './run-table.ts'
export type { FoundRuns, RunFilter, RunPlace, RunQuery, RunSearch, RunSearchQuery, RunStatus,
  RunTable, RunText } from './run-table.ts'
export { scatteredIndex } from './scattered-index.ts'
export type { ScatteredIndex } from './scattered-index.ts'
export type { DueThread, DueThreads, ThreadFilter, ThreadIndex, ThreadPlace, ThreadQuery,
  ThreadSearch, ThreadSort, ThreadStatus, UnfinishedThread } from './thread-index.ts'
export { placeOfThread } from './thread-place.ts'
export { idWord, mayBeginId, wordsOf, wordsOfThread } from './thread-words.ts'
export { expiryAtMs, expiryStrategies, isExpired } from './time-to-live.ts'
export type { ExpiryStrategy, TimeToLiveRequest } from './time-to-live.ts'
