/** Answers questions about a thread's state that need the engine: what comes next, what failed. */

import type { StateSnapshot } from '@langchain/langgraph'

import { HeddleError } from '../../errors.ts'
import { checkpointOf } from '../events/debug-payload.ts'
import { ValuesReference } from '../events/values-reference.ts'
import type { CheckpointSource, SnapshotAnswer, StateQuestion } from '../execution.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import { shapeOf } from '../project/library.ts'
import { configurableOf } from '../project/run-input.ts'
import type { Fields } from '../project/run-input.ts'
import { HeddleSaver, sendsApart } from '../state/saver.ts'
import type { SaverOptions } from '../state/saver.ts'
import { selectedFields, selectedValues, selectsStepWrites } from '../state-selection.ts'
import type { StateSelection } from '../state-selection.ts'
import { readHistory, readState } from './graph-state.ts'
import type { Workbench } from './runner.ts'

/** A question to a worker, and where it reads the thread's checkpoints. */
export interface Inquiry {
  readonly graphId: string
  readonly threadId: string
  readonly question: StateQuestion
  readonly source: CheckpointSource
  /** Aborts when no caller waits for the answer any more. */
  readonly cancelled?: AbortSignal
}

type Task = StateSnapshot['tasks'][number] & { readonly result?: unknown }

/** Answers a question, newest first. The answer is empty if there is no such checkpoint. */
export async function answer(bench: Workbench, inquiry: Inquiry): Promise<SnapshotAnswer[]> {
  const { graphId, threadId, question, source } = inquiry
  const configurable = configurableOf(threadId, question, null)
  const graph = await bench.library.get(graphId, { access: 'threads.read',
    config: { configurable } })
  const { plain, stateChannels } = shapeOf(graph)
  const reference = new ValuesReference(stateChannels, Number.POSITIVE_INFINITY)
  const inputs = new Map<string, unknown>()
  const saver = readOnlySaver(bench, graph, { threadId, source }, (id, values) => {
    reference.see(id, values)
    inputs.set(id, values.__start__)
  })
  const usable = plain && question.ns === '' ? reference : undefined
  const { select } = question
  const show = ({ snapshot, parent }: Found): SnapshotAnswer => {
    inquiry.cancelled?.throwIfAborted()
    const checkpointId = idOf(snapshot.config)
    const valuesOf = usable ? valuesPlace(usable, snapshot, select) : ''
    const selected = valuesOf === '' ? selectedValues(snapshot.values, select) : undefined
    const writes = parent ? tasksWrites(parent) : inputWrites(inputs.get(checkpointId))
    const state = { ...stateOf(snapshot, graphId, writes),
      ...select && { interrupts: snapshot.tasks.flatMap((task) => task.interrupts) } }
    const slices = selected && Object.keys(selected.slices).length > 0 &&
      { slices: selected.slices }
    const json = bench.codec.text({ ...selectedFields(state, select), ...slices })
    return { checkpointId, json, valuesOf,
      values: selected ? bench.codec.text(selected.values) : '' }
  }
  const seen: Seen = { graph, saver, show, withParents: selectsStepWrites(select) }
  return question.kind === 'state'
    ? oneState(seen, threadId, question)
    : page(seen, threadId, question)
}

/**
 * The checkpoint whose stored channels are the values; empty if none is. Where something is
 * selected, checkpoints come without values: each then stands for its own.
 */
function valuesPlace(reference: ValuesReference, { values, config }: StateSnapshot,
  select: StateSelection): string {
  if (!select) return reference.of(values) ?? ''
  return reference.isOf(idOf(config), values) ? idOf(config) : ''
}

interface Found {
  readonly snapshot: StateSnapshot
  /** The parent checkpoint, if its tasks made this one; otherwise undefined. */
  readonly parent: StateSnapshot | undefined
}

interface Seen {
  readonly graph: ServedGraph
  readonly saver: HeddleSaver
  readonly show: (found: Found) => SnapshotAnswer
  /** True if the writes of the parent's tasks are asked for: the parent is then read as well. */
  readonly withParents: boolean
}

type Question<Kind> = StateQuestion & { readonly kind: Kind }

function oneState(seen: Seen, threadId: string,
  question: Question<'state'>): Promise<SnapshotAnswer[]> {
  const { subgraphs } = question
  const config = { configurable: placeOf(threadId, question) }
  return readState(seen.graph, seen.saver, { config, subgraphs },
    async (snapshot) =>
      isThere(snapshot) ? [seen.show({ snapshot, parent: await parentOf(seen, snapshot) })] : [])
}

function page(seen: Seen, threadId: string,
  question: Question<'history'>): Promise<SnapshotAnswer[]> {
  const { before, limit, filter } = question
  return readHistory(seen.graph, seen.saver, [{ configurable: placeOf(threadId, question) }, {
    limit,
    ...filter && { filter: { ...filter } },
    ...before !== null &&
      { before: { configurable: { thread_id: threadId, checkpoint_id: before } } },
  }], async (snapshots) => {
    const byId = new Map(snapshots.map((snapshot) => [idOf(snapshot.config), snapshot]))
    return Promise.all(
      snapshots.map(async (snapshot) =>
        seen.show({ snapshot, parent: await parentOf(seen, snapshot, byId) })
      ),
    )
  })
}

/**
 * The engine's keys of a checkpoint. Keys without a value are left out: they would select nothing.
 */
function placeOf(thread_id: string, { ns: checkpoint_ns, checkpointId }: StateQuestion): Fields {
  return { thread_id, checkpoint_ns, ...checkpointId !== null && { checkpoint_id: checkpointId } }
}

async function parentOf({ graph, saver, withParents }: Seen,
  { parentConfig, metadata }: StateSnapshot,
  known: ReadonlyMap<string, StateSnapshot> = new Map()): Promise<StateSnapshot | undefined> {
  // Only a step of the graph is made by the tasks of its parent.
  if (!withParents || !parentConfig || metadata?.source !== 'loop') return undefined
  const parent = known.get(idOf(parentConfig))
    ?? await readState(graph, saver, { config: parentConfig }, (state) => state)
      .catch(ignoreEngineErrors)
  return parent && isThere(parent) ? parent : undefined
}

/** The engine may fail on conflicting writes of the parent. The child is then shown without it. */
function ignoreEngineErrors(error: unknown): undefined {
  if (error instanceof HeddleError) throw error
}

/** A StateSnapshot as the API's ThreadState, without its values. */
function stateOf(snapshot: StateSnapshot, graphId: string, writes: Fields | null): Fields {
  const { next, tasks, metadata, createdAt, config, parentConfig } = snapshot
  const checkpoint = checkpointOf(config)
  const parentCheckpoint = checkpointOf(parentConfig)
  const checkpointId = checkpoint?.checkpoint_id ?? null
  const threadId = checkpoint?.thread_id ?? null
  return {
    next,
    tasks: tasks.map((task) => taskOf(task, graphId)),
    metadata: {
      graph_id: graphId,
      writes,
      ...metadata,
      thread_id: threadId,
      checkpoint_id: checkpointId,
    },
    created_at: createdAt ?? null,
    checkpoint,
    parent_checkpoint: parentCheckpoint,
    checkpoint_id: checkpointId,
    parent_checkpoint_id: parentCheckpoint?.checkpoint_id ?? null,
  }
}

function taskOf({ id, name, error, interrupts, path, state, result }: Task,
  graphId: string): Fields {
  const nested = state && 'values' in state ? state : undefined
  const configurable = state && 'configurable' in state ? state.configurable : undefined
  return {
    id,
    name,
    interrupts,
    path,
    // A string that holds JSON: clients parse it.
    error: error == null ? null : JSON.stringify(error),
    checkpoint: configurable ?? null,
    state: nested ? { values: nested.values, ...stateOf(nested, graphId, null) } : null,
    result: result ?? null,
  }
}

/**
 * Results of the parent's tasks, by node: a list if a node had several tasks; null without results.
 */
function tasksWrites({ tasks }: StateSnapshot): Fields | null {
  const results = new Map<string, unknown[]>()
  for (const { name, result } of tasks) {
    if (name === '__start__' || result == null) continue
    const others = results.get(name)
    if (others) others.push(result)
    else results.set(name, [result])
  }
  if (results.size === 0) return null
  return Object.fromEntries(
    [...results].map(([name, written]) => [name, written.length === 1 ? written[0] : written]),
  )
}

function inputWrites(input: unknown): Fields | null {
  return input === undefined ? null : { __start__: input }
}

function readOnlySaver({ codec, serde }: Workbench, graph: ServedGraph,
  { threadId, source }: Pick<Inquiry, 'threadId' | 'source'>,
  seen: SaverOptions['seen']): HeddleSaver {
  const refuse = () => {
    throw new Error('a question does not change the state')
  }
  return new HeddleSaver({
    threadId,
    runId: '',
    codec,
    serde,
    source,
    metadata: {},
    sync: false,
    sendsApart: sendsApart(graph),
    memory: { newest: new Map(), empty: false },
    sink: { step: refuse, hold: refuse, acknowledged: () => Promise.resolve() },
    seen,
    entered: () => {},
    written: () => {},
  })
}

function isThere(snapshot: StateSnapshot): boolean {
  return snapshot.createdAt !== undefined
}

function idOf(config: StateSnapshot['parentConfig']): string {
  return String(config?.configurable?.checkpoint_id)
}
