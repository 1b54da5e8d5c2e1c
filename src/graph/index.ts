/** The graph host: a project's graphs, executed in worker threads. */

export type { CheckpointSelector, CheckpointSource, EditUpdate, Execution, ExecutionListener,
  GraphDescription, GraphHost, GraphSchemas, JsonText, LossReason, ExecutionOutcome, RunRequest,
  SnapshotAnswer, StateQuestion, Step, StepBatch, StepEvent, EmittedEvent } from './execution.ts'
export type { LinePage, LoggedLines } from './logs/run-logs.ts'
export { checkpointMark, isThreadEvent } from './events/thread-event-name.ts'
export { ExecutionMarks } from './pool/execution-marks.ts'
export type { WriteTraces } from './pool/trace-intake.ts'
export { startGraphHost } from './pool/host.ts'
export type { GraphItems, HostStats, RunningGraphHost } from './pool/host.ts'
export { systemAssistantId } from './project/assistant-id.ts'
export { breakpointFault, commandFaults } from './project/graph-names.ts'
export type { GraphNames } from './project/graph-names.ts'
export { requireNext } from './project/missing-nodes.ts'
export { compileProject } from './project/project-compiler.ts'
export type { CompiledProject } from './project/project-compiler.ts'
export { watchProject } from './project/project-watch.ts'
export { readProject } from './project/project.ts'
export type { Project } from './project/project.ts'
export { isInterruptId } from './project/run-input.ts'
export type { WireCommand } from './project/run-input.ts'
export { addsToValues } from './state/added-writes.ts'
export { askedIn } from './state/pending-writes.ts'
export { keysAskedFor, selectedFields, selectedValues, selectsBodies, selectsSizes, selectsWrites,
  slicesOf } from './state/state-selection.ts'
export type { StateSelection } from './state/state-selection.ts'
export { waitingInterrupts } from './state/waiting-interrupts.ts'
export type { WaitingInterrupt } from './state/waiting-interrupts.ts'
