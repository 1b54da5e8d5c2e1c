/**
 * Turns a request for a run into the command to its thread. Merges, fills in defaults, and is pure.
 */

import type { PushConfig } from '../../../proto/gen/storage/v1/push.ts'
import type { AssistantRow } from '../../../proto/gen/storage/v1/row.ts'
import { keyLookalike } from '../../access/index.ts'
import type { CreateRun, CreateStatelessRun } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { breakpointFault, commandFaults } from '../../graph/index.ts'
import type { AppUser, GraphNames, HeaderChoice, WireCommand } from '../../graph/index.ts'
import { isObject } from '../../json/index.ts'
import { RawJson } from '../../raw-json.ts'
import type { MetadataFilter } from '../../search/index.ts'
import type { StartRun } from '../../thread/index.ts'
import { holdsToken } from '../schema/token-lookalike.ts'
import type { Fault } from '../schema/validation.ts'
import { reachesGraph } from './graph-headers.ts'

type Json = Readonly<Record<string, unknown>>

/** Parts that a run takes from its request, besides the body. */
export interface RunCaller {
  /** The Idempotency-Key; empty if there is none. */
  readonly commandId: string
  /** Id of a user, who has a login or comes through a trusted proxy. */
  readonly userId?: string | undefined
  /** The caller as the login of the project made it; missing if there is none. */
  readonly user?: AppUser | undefined
  /** The id of the run, if it has one already, as one that the caller can make again. */
  readonly runId?: string | undefined
  /** True if the caller waits for the result, and no client learns of the run before that. */
  readonly awaits?: boolean
  /** Minutes for which the thread of a stateless run stays if the run asks; see `RunPlan`. */
  readonly keptMinutes?: number
  /** True if the caller follows the run from its start. */
  readonly follows?: boolean
  /** Filter of threads that the caller sees; by default it sees all. */
  readonly allowed?: MetadataFilter | undefined
  /** The revision of the deployment that it asks for; undefined if that is left to it. */
  readonly revision?: string | undefined
  /** Of the trial run of a revision: milliseconds that it may take. */
  readonly trialMs?: number
  /** Whom to notify of the task that the run is, or goes on with. */
  readonly push?: PushConfig | undefined
  /** The first run of the task that it goes on with. */
  readonly task?: string | undefined
  /** Fingerprints of the interrupts that the caller has seen and resumes. */
  readonly answers?: readonly string[] | undefined
  /** The id of the request in logs; undefined for a run without a request. */
  readonly requestId?: string | undefined
  /** Headers as received. Some of them are shown to the graph. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Choice of the project among them; by default, those that tell of no secret or identity. */
  readonly graphHeaders?: HeaderChoice | undefined
  /** Is called with what the run does not do, although it starts; by default, only the log is. */
  readonly warn?: (faults: readonly Fault[]) => void
}

/** The header of a request for a run that names a revision of the deployment. */
export const revisionHeader = 'x-heddle-revision'

/** Ids of a new run and its thread. */
export interface RunIds {
  readonly runId: string
  readonly threadId: string
}

/** Time for a run once a worker has it. A resumed run has all of it again. */
const runTimeoutMs = 60 * 60 * 1_000

/** Parts that a run takes from its assistant: the row and the context. */
export interface RunAssistant {
  readonly row: Omit<AssistantRow, 'contextJson'>
  /** The context. Its long members are raw JSON. */
  readonly context: unknown
}

/** The command for a run on a thread that the client names. */
export function runOnThread(body: CreateRun, assistant: RunAssistant, ids: RunIds,
  caller: RunCaller): StartRun {
  return {
    ...startRun(body, assistant, ids, caller, { temporary: false }),
    ...caller.allowed && { allowed: caller.allowed },
    strategy: body.multitask_strategy ?? 'enqueue',
    ifMissing: body.if_not_exists ?? 'reject',
  }
}

/**
 * The command for a run with a hidden thread of its own. The thread is deleted with the run, unless
 * the request keeps it.
 */
export function statelessRun(body: CreateStatelessRun, assistant: RunAssistant, ids: RunIds,
  caller: RunCaller): StartRun {
  const temporary = body.on_completion !== 'keep'
  const run = startRun(body, assistant, ids, caller, { temporary })
  // A new thread has no checkpoint to run from.
  const { checkpoint: _, ...kwargs } = run.kwargs
  const { keptMinutes } = caller
  return {
    ...run,
    kwargs,
    ...keptMinutes !== undefined && { plan: { ...run.plan, keptMinutes } },
    strategy: 'enqueue',
    ifMissing: temporary ? 'hidden' : 'create',
  }
}

type CommonBody = Omit<CreateStatelessRun, 'on_completion'> & Pick<CreateRun,
  | 'checkpoint'
  | 'checkpoint_id'>

function startRun(body: CommonBody, { row: assistant, context }: RunAssistant, ids: RunIds,
  caller: RunCaller,
  { temporary }: { temporary: boolean }): Omit<StartRun, 'strategy' | 'ifMissing'> {
  const { assistantId, graphId } = assistant
  const resumable = body.stream_resumable ?? false
  const { checkpoint, config } = pickCheckpoint(body)
  return {
    runId: ids.runId,
    assistantId,
    graphId,
    commandId: caller.commandId,
    metadata: body.metadata ?? {},
    afterMs: Math.ceil((body.after_seconds ?? 0) * 1_000),
    awaited: caller.awaits ?? false,
    ...body.strict_resume === true && { strictResume: true },
    ...caller.push && { push: caller.push },
    kwargs: withoutNulls({
      input: body.input ?? null,
      command: body.command,
      config: mergedConfig(JSON.parse(assistant.configJson || '{}') as Json, config, {
        run_id: ids.runId,
        thread_id: ids.threadId,
        graph_id: graphId,
        assistant_id: assistantId,
      }),
      context: mergedContext(context, body.context),
      stream_mode: streamModes(body.stream_mode),
      interrupt_before: breakpoints(body.interrupt_before),
      interrupt_after: breakpoints(body.interrupt_after),
      subgraphs: body.stream_subgraphs ?? false,
      resumable,
      temporary,
      durability: body.durability ?? durabilityOf(body.checkpoint_during),
      checkpoint,
      webhook: body.webhook,
      feedback_keys: feedbackKeysOf(body),
    }, ['input']),
    plan: {
      graphId,
      resumable,
      temporary,
      userId: caller.userId ?? '',
      ...caller.requestId !== undefined && { requestId: caller.requestId },
      ...caller.user && { user: caller.user },
      timeoutMs: caller.trialMs ?? runTimeoutMs,
      assistantMetadata: JSON.parse(assistant.metadataJson || '{}') as Record<string, unknown>,
      headers: headersForGraph(caller),
      ...body.webhook != null && { webhook: body.webhook },
      ...caller.revision !== undefined && { revision: caller.revision },
      ...caller.trialMs !== undefined && { trial: true },
      ...caller.follows === true && { isAwaited: true },
      ...caller.task !== undefined && { task: caller.task },
      ...caller.answers !== undefined && { answers: caller.answers },
    },
  }
}

/**
 * The stream modes of a request. A page that has rendered nothing of the run sends an empty list.
 */
function streamModes(asked: CommonBody['stream_mode']): readonly string[] {
  const modes = [asked ?? []].flat()
  return modes.length > 0 ? modes : ['values']
}

/** The kinds of feedback that links are asked for; undefined for none. */
export function feedbackKeysOf(
  { feedback_keys: asked }: Pick<CreateRun, 'feedback_keys'>,
): readonly string[] | undefined {
  const keys = [asked ?? []].flat()
  return keys.length > 0 ? keys : undefined
}

/** The nodes to stop at. `*` in a list means every node, as it does alone. */
function breakpoints(asked: CommonBody['interrupt_before']): CommonBody['interrupt_before'] {
  return asked?.includes('*') ? '*' : asked
}

/**
 * Finds parts of a command that name nodes or channels which the graph does not have. Names in
 * values that are carried raw are checked where the graph runs.
 */
export function commandNameFaults(body: CommonBody, names: GraphNames): Fault[] {
  const { goto, update } = (body.command ?? {}) as WireCommand
  const named = { goto: isRaw(goto) ? null : goto, update: isRaw(update) ? null : update }
  const command = commandFaults(named, names)
  return command.map(({ field, message }) => ({ field: `command.${field}`, message }))
}

/** Finds breakpoints at nodes that the graph does not have. A run with them starts. */
export function breakpointFaults(body: CommonBody, names: GraphNames): Fault[] {
  return (['interrupt_before', 'interrupt_after'] as const).flatMap((field) => {
    const message = breakpointFault(breakpoints(body[field]), names)
    return message === undefined ? [] : [{ field, message }]
  })
}

function isRaw(value: unknown): boolean {
  return value instanceof RawJson || (Array.isArray(value) && value.some(isRaw))
}

/** Merges configs. The request's keys win, tags are appended, the ids come from the server. */
export function mergedConfig(assistant: Json, request: Json | null, ids: Json): Json {
  const tags = [...listOf(assistant.tags), ...listOf(request?.tags)]
  return {
    ...assistant,
    ...request,
    ...(tags.length > 0 && { tags }),
    configurable: { ...objectOf(assistant.configurable), ...objectOf(request?.configurable),
      ...ids },
  }
}

/** Merges objects shallowly. Any other context replaces the assistant's. */
export function mergedContext(assistant: unknown, request: unknown): unknown {
  if (request === undefined || request === null) return assistant
  if (!isObject(assistant) || !isObject(request)) return request
  // Hardly any assistant has a context, and a copy of very many keys takes time.
  if (Object.keys(assistant).length > 0) {
    for (const each of [assistant, request])
      requireOpen(
        each,
      )
  }
  return Object.keys(assistant).length === 0 ? request : { ...assistant, ...request }
}

/** Throws for a context of very many members, which is one raw value and cannot be merged. */
function requireOpen(context: unknown): void {
  if (!(context instanceof RawJson)) return
  throw new HeddleError('invalid', 'context: a long one that is merged, from the assistant and ' +
    'the request, may have 10000 members at most.')
}

/** The headers that a graph may see. They are stored with the run, so none may hold a secret. */
export function headersForGraph(
  { headers, graphHeaders }: Pick<RunCaller, 'headers' | 'graphHeaders'>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(headers)
    .filter(([name, value]) =>
      name !== revisionHeader && value !== undefined && reachesGraph(name, graphHeaders)
    )
    .map(([name, value]) => [name, [value].flat().join(', ')])
    .filter(([, text]) => !keyLookalike.test(text!) && !holdsToken(text!)))
}

/**
 * Finds the checkpoint to run from. Some clients name it in the config. It is removed there, so
 * that it holds for this run only.
 */
function pickCheckpoint(
  { config, checkpoint, checkpoint_id }: CommonBody,
): { checkpoint?: Json; config: Json | null } {
  const { checkpoint_id: id, checkpoint_ns: ns, checkpoint_map: map, ...configurable } = objectOf(
    config?.configurable,
  )
  const place = withoutNulls({
    checkpoint_id: checkpoint?.checkpoint_id ?? checkpoint_id ?? id,
    checkpoint_ns: checkpoint?.checkpoint_ns ?? ns,
    checkpoint_map: checkpoint?.checkpoint_map ?? map,
  })
  const isNamed = Object.values(place).some((value) => value !== '')
  return {
    config: config ? { ...config, configurable } : null,
    ...(isNamed && { checkpoint: place }),
  }
}

function durabilityOf(duringRun: boolean | null | undefined): 'async' | 'exit' | undefined {
  if (duringRun === undefined || duringRun === null) return undefined
  return duringRun ? 'async' : 'exit'
}

function withoutNulls(object: Json, except: readonly string[] = []): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) =>
      value !== undefined && (value !== null || except.includes(name))
    ),
  )
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
