/** Turns the JSON that a run is started with into the engine's own objects. */

import type * as Langgraph from '@langchain/langgraph'

import { isList, valueIn } from '../../json/index.ts'
import type { CheckpointSelector, EditUpdate, JsonText, RunRequest } from '../execution.ts'

/** An object with any members. */
export type Fields = Record<string, unknown>

/** The constructors of the project's own copy of the engine. */
export type EngineWords = Pick<typeof Langgraph, 'Command' | 'Send'>

/** A RunnableConfig as the API has it. */
interface WireConfig {
  readonly tags?: readonly string[]
  readonly recursion_limit?: number
  readonly max_concurrency?: number
  readonly run_name?: string
  readonly metadata?: Fields
  readonly configurable?: Fields
}

/** A command as the API has it. */
export interface WireCommand {
  readonly resume?: unknown
  readonly update?: Fields | [string, unknown][] | null
  readonly goto?: WireGoto | readonly WireGoto[] | null
}

type WireGoto = string | { readonly node: string; readonly input: unknown }

/** The command in the JSON of a request, whose shape the API has checked. */
export function commandIn(text: JsonText): WireCommand {
  return JSON.parse(text) as WireCommand
}

/** Finds the ids of the interrupts that wait on the thread. */
export type PendingInterrupts = () => Promise<readonly string[]>

/** Input for the engine: a value or a Command; null to continue from the head. */
export async function runInput(request: RunRequest, engine: EngineWords,
  pending: PendingInterrupts): Promise<unknown> {
  if (request.command === null) return JSON.parse(request.input)
  const command = commandIn(request.command)
  if (request.asked === null) {
    return commandOf({ ...command, resume: await namedAnswer(command.resume, pending) }, engine)
  }
  const resume = await answersLeft(command.resume, request.asked, pending)
  const isLeft = resume ?? command.update ?? command.goto
  return isLeft == null ? null : commandOf({ ...command, resume }, engine)
}

/** An update of an edit, parsed. */
export interface ParsedUpdate extends Pick<EditUpdate, 'asNode'> {
  readonly values: unknown
  readonly command: WireCommand | null
}

/** Parses an update of an edit. */
export function parsedUpdate({ values, command, asNode }: EditUpdate): ParsedUpdate {
  return { asNode, values: JSON.parse(values),
    command: command === null ? null : commandIn(command) }
}

/** Values or Command that one update of an edit writes. */
export function editInput({ values, command }: ParsedUpdate, engine: EngineWords): unknown {
  return command === null ? values : commandOf(command, engine)
}

/**
 * `configurable` with the keys that select a checkpoint, left out if they have no value. The
 * engine's own keys, such as its checkpointer, are dropped, since clients must not set them.
 */
export function configurableOf(threadId: string, config: Pick<WireConfig, 'configurable'>,
  checkpoint: CheckpointSelector | null): Fields {
  const { checkpoint_id: id, checkpoint_ns: ns, checkpoint_map: map, ...configurable } =
    config.configurable ?? {}
  for (const key in configurable) if (key.startsWith('__pregel_')) delete configurable[key]
  return {
    ...configurable,
    thread_id: threadId,
    ...selected({ id, ns, map }),
    ...selected({ id: checkpoint?.checkpointId, ns: checkpoint?.checkpointNs,
      map: checkpoint?.checkpointMap }),
  }
}

/** The engine options that come from the config and the context. */
export function configOf(threadId: string,
  { config: text, context, checkpoint }: { config: JsonText; context: JsonText | null;
    checkpoint: CheckpointSelector | null }) {
  const config = JSON.parse(text) as WireConfig
  const { tags, recursion_limit, max_concurrency, run_name, metadata = {} } = config
  const configurable = configurableOf(threadId, config, checkpoint)
  return {
    // The library names a run's model there as well.
    metadata: typeof configurable.model === 'string'
      ? { model: configurable.model, ...metadata }
      : metadata,
    configurable,
    ...tags && { tags: [...tags] },
    ...recursion_limit != null && { recursionLimit: recursion_limit },
    ...max_concurrency != null && { maxConcurrency: max_concurrency },
    ...run_name != null && { runName: run_name },
    ...context !== null && { context: valueIn(context) },
  }
}

function selected({ id, ns, map }: { id: unknown; ns: unknown; map: unknown }): Fields {
  return {
    ...id != null && id !== '' && { checkpoint_id: id },
    ...ns != null && ns !== '' && { checkpoint_ns: ns },
    ...map != null && { checkpoint_map: map },
  }
}

function commandOf({ resume, update, goto }: WireCommand, { Command, Send }: EngineWords) {
  const targets = goto == null ? [] : isList(goto) ? goto : [goto]
  return new Command({
    resume,
    update: update ?? undefined,
    goto: targets.map((target) =>
      typeof target === 'string' ? target : new Send(target.node, target.input)
    ),
  })
}

const idPattern = /^[0-9a-f]{32}$/

/** True for a text in the form of the engine's interrupt ids. */
export function isInterruptId(text: string): boolean {
  return idPattern.test(text)
}

/** True if a resume value has a value for each interrupt that it names. */
export function namesInterrupts(resume: unknown): resume is Fields {
  const ids = typeof resume === 'object' && resume !== null ? Object.keys(resume) : []
  return ids.length > 0 && ids.every(isInterruptId)
}

/**
 * Answers by interrupt id, without the interrupts in `asked`, which the client has not seen. From
 * 1.7 on a task's next interrupt has its own id, yet the engine gives it the answer to the first.
 */
async function answersLeft(resume: unknown, asked: readonly string[],
  pending: PendingInterrupts): Promise<Fields | undefined> {
  if (resume == null) return undefined
  const waiting = await pending()
  const answers = namesInterrupts(resume)
    ? Object.entries(resume).filter(([id]) => waiting.includes(id))
    : waiting.map((id) => [id, resume] as const)
  const left = answers.filter(([id]) => !asked.includes(id))
  return left.length > 0 ? Object.fromEntries(left) : undefined
}

/**
 * True if a resume without an id in the log must not be used. Either an earlier attempt used it, or
 * another run wrote it, or the resume of this run gets an id, so that the engine would keep both.
 */
export function outdatesAnswer({ asked, command }: Pick<RunRequest, 'asked' | 'command'>): boolean {
  return asked !== null || command === null || !commandIn(command).resume
}

function isFalsyAnswer(resume: unknown): boolean {
  return resume != null && !resume
}

/** Names the interrupt of a falsy answer, which the engine would drop without a name. */
async function namedAnswer(resume: unknown, pending: PendingInterrupts): Promise<unknown> {
  if (!isFalsyAnswer(resume)) return resume
  const [interrupt, other] = await pending()
  return interrupt === undefined || other !== undefined ? resume : { [interrupt]: resume }
}

/**
 * The values that an edit wrote, by node, which the engine does not keep; null if no node is named.
 */
export function namedWrites(updates: readonly ParsedUpdate[]): Fields | null {
  const named = updates.filter(({ asNode }) => asNode !== null)
  if (named.length === 0) return null
  return Object.fromEntries(named.map(({ asNode, values }) => [asNode, values]))
}
