/** Makes the request to execute a run from its record. */

import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { isInterruptId } from '../../graph/index.ts'
import type { CheckpointSelector, RunRequest, EmittedEvent } from '../../graph/index.ts'
import { isObject, memberOf, objectIn, objectOf } from '../../json/index.ts'
import { RawJson, textOf, valueOf } from '../../raw-json.ts'
import type { RunPlan, StartRun } from './thread-client.ts'

/** The part of a run's kwargs that its execution uses; the front door has checked the shapes. */
interface Kwargs {
  readonly input?: unknown
  readonly command?: { readonly resume?: unknown } | null
  readonly config?: Readonly<Record<string, unknown>>
  readonly context?: unknown
  readonly stream_mode?: readonly string[]
  readonly subgraphs?: boolean
  readonly interrupt_before?: '*' | readonly string[] | null
  readonly interrupt_after?: '*' | readonly string[] | null
  readonly durability?: 'sync' | 'async' | 'exit' | null
  readonly checkpoint?: Partial<Record<keyof WireCheckpoint, unknown>> | null
}

interface WireCheckpoint {
  readonly checkpoint_id: string
  readonly checkpoint_ns: string
  readonly checkpoint_map: Readonly<Record<string, string>>
}

/** Rest of an earlier attempt: a resumed run continues from it instead of its input. */
export interface ResumePoint {
  readonly wrote: boolean
  readonly emitted: readonly EmittedEvent[]
  readonly asked: RunRequest['asked']
  /** True if an attempt has decided about an effect by the resume value of the run. */
  readonly decided?: boolean
}

/** A run that has not been started before. */
export const noResumePoint: ResumePoint = { wrote: false, emitted: [], asked: null }

/** Data for the execution of a run beside its request. */
export function planOf(run: Pick<RunRow, 'planJson'>): RunPlan {
  return JSON.parse(run.planJson) as RunPlan
}

/** Returns the id of the user for whom a run is; empty for none. */
export function userIdOf(run: Pick<RunRow, 'planJson'>): string {
  return planOf(run).userId
}

/** Returns the context that a run has, also from its assistant; `undefined` if it has none. */
export function contextOf(run: Pick<RunRow, 'kwargsJson' | 'planJson'>): unknown {
  return kwargsOf(run, planOf(run))['context'] ?? undefined
}

/** Arguments of the run's request. Long values are raw JSON. */
export function kwargsOf({ kwargsJson: text }: Pick<RunRow, 'kwargsJson'>,
  { rawKwargs: places = [] }: RunPlan): Readonly<Record<string, unknown>> {
  return objectOf(valueOf({ text, places }))
}

/** The request to execute a run; `resumePoint` says what earlier attempts left. */
export function runRequest(run: RunRow, plan: RunPlan, resumePoint: ResumePoint): RunRequest {
  const kwargs: Kwargs = kwargsOf(run, plan)
  const config = kwargs.config ?? {}
  const configurable = withoutClaims(objectOf(config.configurable))
  const ids = { run_id: run.runId, thread_id: run.threadId, graph_id: plan.graphId,
    assistant_id: run.assistantId }
  return {
    kind: 'run',
    input: resumePoint.wrote ? 'null' : textOf(kwargs.input ?? null),
    command: commandText(kwargs.command, resumePoint),
    // Used again, an answer without an id would replace what else its command wrote.
    asked: resumePoint.asked ?? (resumePoint.wrote ? [] : null),
    ...resumePoint.decided === true && { decided: true },
    config: JSON.stringify({
      ...config,
      metadata: { ...objectOf(config.metadata), ...objectIn(run.metadataJson), ...ids,
        run_attempt: run.attempt, ...startsOf(run) },
      configurable: { ...plan.headers, ...configurable, ...ids,
        ...plan.userId !== '' && { langgraph_auth_user_id: plan.userId }, ...plan.user &&
        { langgraph_auth_user: plan.user, langgraph_auth_permissions: plan.user.permissions } },
    }),
    context: kwargs.context == null ? null : textOf(kwargs.context),
    streamModes: kwargs.stream_mode ?? ['values'],
    streamSubgraphs: kwargs.subgraphs ?? false,
    interruptBefore: kwargs.interrupt_before ?? null,
    interruptAfter: kwargs.interrupt_after ?? null,
    durability: kwargs.durability ?? 'async',
    checkpoint: resumePoint.wrote ? null : selector(kwargs.checkpoint),
    emitted: resumePoint.emitted,
  }
}

/** Steps of a run that was started again say so; those of all others stay as they were. */
function startsOf({ starts = 1 }: RunRow): { readonly run_starts?: number } {
  return starts > 1 ? { run_starts: starts } : {}
}

/** The answer that the run begins with. Undefined without one, and at an earlier checkpoint. */
export function answerOf(run: RunRow, headId: string | undefined): unknown {
  const { command, checkpoint }: Kwargs = kwargsOf(run, planOf(run))
  const id = selector(checkpoint)?.checkpointId ?? headId
  return id === headId ? command?.resume ?? undefined : undefined
}

/**
 * Returns the sorted ids of the interrupts in the value of a resume: none for an empty object.
 * Undefined for a value without ids, and for a value that is too long to parse.
 */
export function idsIn(resume: unknown): readonly string[] | undefined {
  if (!isObject(resume) || resume instanceof RawJson) return undefined
  const names = Object.keys(resume)
  return names.every(isInterruptId) ? names.sort() : undefined
}

/** A resumed run gets the answers alone: the rest of its command is in the log already. */
function commandText(command: Kwargs['command'], { wrote }: ResumePoint): string | null {
  if (command == null || (wrote && command.resume == null)) return null
  return textOf(wrote ? { resume: command.resume } : command)
}

/** The latest run's `configurable`, as graphs see it outside of runs. */
export function sharedConfigurable(
  { configJson }: Pick<ThreadRow, 'configJson'>,
): Record<string, unknown> {
  return withoutClaims(objectOf(objectIn(configJson)['configurable']))
}

/** Only the server says who was authenticated. */
function withoutClaims(configurable: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(configurable)
    .filter(([name]) => !name.startsWith('langgraph_auth_')))
}

/** Checkpoint at which a run is to begin; null for the head. */
export function forkOf({ kwargs }: Pick<StartRun, 'kwargs'>): CheckpointSelector | null {
  return selector((kwargs as Kwargs).checkpoint)
}

/**
 * True if nobody but the caller who waits for the run can know of it: no key, no stream, no webhook
 * and no time leads to it, and nothing of it is to be on disk before the next step.
 */
export function mayHoldBack(
  { awaited, ifMissing, commandId, afterMs, again, plan, kwargs }: StartRun,
): boolean {
  const { temporary, resumable, webhook, due, trial } = plan
  const isHidden = ifMissing === 'hidden' && temporary && !resumable && commandId === ''
  const isOwed = webhook !== undefined || due !== undefined || trial === true || again === true
  return awaited && isHidden && !isOwed && afterMs === 0
    && (kwargs as Kwargs).durability !== 'sync'
}

/** The id of the checkpoint where a run is to begin; undefined for the head. */
export function forkIdOf(kwargs: Readonly<Record<string, unknown>>): string | undefined {
  return selector((kwargs as Kwargs).checkpoint)?.checkpointId ?? undefined
}

/** True for a run with neither new input nor a jump: the tasks that wait are executed. */
export function continues({ input, command }: Readonly<Record<string, unknown>>): boolean {
  return command == null ? input == null : memberOf(command, 'resume') != null
}

/** Null if nothing is selected: clients that always send an empty object mean the head. */
function selector(checkpoint: Kwargs['checkpoint']): CheckpointSelector | null {
  const { checkpoint_id: id, checkpoint_ns: ns, checkpoint_map: map } = checkpoint ?? {}
  if (id == null && !ns && map == null) return null
  return {
    checkpointId: typeof id === 'string' ? id : null,
    checkpointNs: typeof ns === 'string' ? ns : '',
    checkpointMap: (map ?? null) as CheckpointSelector['checkpointMap'],
  }
}
