/** The graph host: a project's graphs, executed in worker threads. */

export type { CheckpointSelector, CheckpointSource, EditRequest, EditUpdate, Execution,
  ExecutionKind, ExecutionListener, GraphDescription, GraphHost, GraphSchemas, JsonText,
  LossReason, Outcome, OutcomeStatus, RunRequest, SnapshotAnswer, StateQuestion, Step, StepBatch,
  StepEvent, StoredChannel, StoredTuple, ToldEvent, TupleQuery } from './execution.ts'
export { systemAssistantId } from './assistant-id.ts'
