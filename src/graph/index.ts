/** The graph host: a project's graphs, executed in worker threads. */

export type { CheckpointSelector, CheckpointSource, EditUpdate, Execution, ExecutionListener,
  GraphDescription, GraphHost, GraphSchemas, JsonText, LossReason, Outcome, RunRequest,
  SnapshotAnswer, StateQuestion, Step, StepBatch, StepEvent, ToldEvent } from './execution.ts'
export { ExecutionMarks } from './execution-marks.ts'
export { systemAssistantId } from './assistant-id.ts'
export { breakpointFault, commandFaults } from './graph-names.ts'
export type { GraphNames } from './graph-names.ts'
export { startGraphHost } from './host.ts'
export type { HostStats, RunningGraphHost } from './host.ts'
export { mustHaveNext } from './missing-nodes.ts'
export type { WireCommand } from './run-input.ts'
export { askedIn } from './pending-writes.ts'
export { readProject } from './project.ts'
export type { Project } from './project.ts'
export { compileProject } from './project-compiler.ts'
export type { CompiledProject } from './project-compiler.ts'
export { watchProject } from './project-watch.ts'
export { keysAskedFor, selectedFields, selectedValues } from './state-selection.ts'
export type { StateSelection } from './state-selection.ts'
