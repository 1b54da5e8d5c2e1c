/** A thread on the server or in this process: its operations, and what can be seen of it. */

import type { ThreadState } from '@langchain/langgraph-sdk'
import type { Edit, RunPlan } from './life.ts'

export interface At {
  readonly checkpoint_id?: string | null
  readonly checkpoint_ns?: string
}

/** A run as the API takes it. */
export interface Payload {
  readonly input?: unknown
  readonly command?: { readonly resume?: unknown; readonly update?: unknown;
    readonly goto?: RunPlan['goto'] }
  readonly checkpoint?: At
  readonly durability: RunPlan['durability']
  readonly interruptBefore?: readonly string[]
  readonly interruptAfter?: readonly string[]
}

export interface Part {
  readonly event: string
  readonly data: unknown
}

/** What a run streamed and what it answered. */
export interface Ran {
  readonly parts: readonly Part[]
  readonly result: unknown
}

export interface Place {
  readonly id: string
  run(runPlan: RunPlan): Promise<Ran>
  update(edit: Pick<Edit, 'values' | 'asNode'>, at: At | undefined): Promise<unknown>
  /** Its status and pending interrupts. */
  thread(): Promise<unknown>
  state(at?: At, subgraphs?: boolean): Promise<ThreadState>
  /** Newest first. */
  history(checkpoint_ns?: string): Promise<ThreadState[]>
  /** Whether this error means that an operation is refused. */
  isRefusal(error: unknown): boolean
}

export const recursionLimit = 14

export async function payloadOf(place: Place, runPlan: RunPlan): Promise<Payload> {
  const { input, answer, goto, update, from, ...rest } = runPlan
  const checkpoint = await checkpointAt(place, from)
  return {
    ...rest,
    ...checkpoint && { checkpoint },
    ...input === undefined
      ? { command: {
        ...answer && { resume: await answerFor(place, answer, checkpoint) },
        ...update && { update },
        ...goto && { goto },
      } }
      : { input },
  }
}

/** The result says only whether the edit was accepted. */
export async function edit(place: Place, { from, inside, ...edit }: Edit): Promise<Ran> {
  const done = await attempt(place, async () => {
    const at = inside === undefined ? checkpointAt(place, from) : checkpointInside(place, inside)
    await place.update(edit, await at)
    return 'edited'
  })
  return { parts: [], result: { __error__: done === refused } }
}

/** What can be seen of its current state. */
export function look(place: Place): Promise<unknown> {
  return attempt(place, async () => {
    const [state, thread] = await Promise.all([place.state(undefined, true), place.thread()])
    return { state: seen(state), thread }
  })
}

/**
 * What is seen of all that was, in subgraphs as well. Known: of what two runs that began on an old
 * checkpoint wrote on it, who asks for it by its id gets the later part alone. So nobody does here.
 */
export function lookBack(place: Place): Promise<unknown> {
  return attempt(place, async () => {
    const history = await place.history()
    const spaces = new Set(
      history.flatMap(({ tasks }) =>
        tasks.flatMap(({ checkpoint }) => checkpoint?.checkpoint_ns ?? [])
      ),
    )
    const below = await Promise.all([...spaces].map((space) => place.history(space)))
    return [history, ...below].map((list) => list.map(seen))
  })
}

export const refused = 'refused'

async function attempt<Result>(place: Place, what: () => Promise<Result>) {
  try {
    return await what()
  } catch (error) {
    if (!place.isRefusal(error)) throw error
    return refused
  }
}

async function checkpointAt(place: Place, from: number | undefined): Promise<At | undefined> {
  if (from === undefined) return undefined
  const history = await place.history()
  const { checkpoint_id } = history[from % Math.max(1, history.length)]?.checkpoint ?? {}
  return checkpoint_id ? { checkpoint_id, checkpoint_ns: '' } : undefined
}

async function checkpointInside(place: Place, inside: number): Promise<At> {
  const { tasks } = await place.state()
  const spaces = tasks.flatMap(({ checkpoint }) => checkpoint?.checkpoint_ns ?? [])
  // A namespace that does not exist: both must refuse it.
  return { checkpoint_ns: spaces[inside % Math.max(1, spaces.length)] ?? 'nowhere' }
}

async function answerFor(place: Place, { how, value }: NonNullable<RunPlan['answer']>,
  at: At | undefined): Promise<unknown> {
  if (how === 'value') return value
  const { tasks } = await place.state(at)
  const asked = tasks.flatMap(({ interrupts }) => interrupts.map(({ id }) => id!))
  if (asked.length === 0) return value
  return Object.fromEntries((how === 'each' ? asked : asked.slice(0, 1)).map((id) => [id, value]))
}

/** The fields that are the same on the server and in process, except for ids. */
function seen(
  { values, next, tasks, metadata, checkpoint, parent_checkpoint }: ThreadState,
): unknown {
  const { source, step, parents } = (metadata ?? {}) as Record<string, unknown>
  const thrown = tasks.find(({ error }) => error != null && !isAborted(error))?.error
  return {
    values,
    next,
    source,
    step,
    parents,
    checkpoint: checkpoint?.checkpoint_id ?? null,
    parent: parent_checkpoint?.checkpoint_id ?? null,
    tasks: tasks.map((
      { id, name, path, interrupts, error, state, result, checkpoint: place }:
        & ThreadState['tasks'][number]
        & { path?: unknown; result?: unknown },
    ) => ({ id, name, path, interrupts, result: result ?? null,
      error: withoutStack(isAborted(error) ? thrown ?? error : error),
      state: state ? seen(state) : place?.checkpoint_ns ?? null })
    ),
  }
}

/** The engine keeps no places of errors. */
function withoutStack(error: unknown): unknown {
  if (typeof error !== 'string' || !error.startsWith('{')) return error
  const { stack: _, ...rest } = JSON.parse(error) as Record<string, unknown>
  return JSON.stringify(rest)
}

/**
 * Of tasks that throw beside each other it is chance whose error comes first: the checkpointer's
 * answers decide, in process too. The others are aborted by it, or throw in the same turn.
 */
function isAborted(error: unknown): boolean {
  return typeof error === 'string' && error.includes('"name":"AbortError"')
}
