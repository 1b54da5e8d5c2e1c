/** The graph host: a project's graphs, executed in worker threads. */

export type { CheckpointSelector, CheckpointSource, EditRequest, EditUpdate, Execution,
  ExecutionKind, ExecutionListener, GraphDescription, GraphHost, GraphSchemas, JsonText,
  LossReason, Outcome, OutcomeStatus, RunRequest, SnapshotAnswer, StateQuestion, Step, StepBatch,
  StepEvent, StoredChannel, StoredTuple, ToldEvent, TupleQuery } from './execution.ts'
export { systemAssistantId } from './assistant-id.ts'
export { startGraphHost } from './host.ts'
export type { GraphHostOptions, HostStats, RunningGraphHost } from './host.ts'
export { readProject } from './project.ts'
export type { Project } from './project.ts'
export { compileProject } from './project-compiler.ts'
export type { CompiledProject } from './project-compiler.ts'
export { watchProject } from './project-watch.ts'
export type { ProjectListener } from './project-watch.ts'
