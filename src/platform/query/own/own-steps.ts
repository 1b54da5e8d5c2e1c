/** The tasks of a run of this server as spans: the tree below the root of its trace. */

import { isObject, modelOf } from '../../../json/index.ts'
import { namedId } from '../../records/catalog/named-id.ts'
import { segmentOf } from '../../spans/dotted-order.ts'
import { modelUsage } from '../../spans/model-usage.ts'
import type { PriceModel } from '../../spans/model-usage.ts'
import type { Payload } from '../../spans/payload.ts'
import { noFields } from '../../spans/span.ts'
import type { SpanFields, SpanHead } from '../../spans/span.ts'
import { termOf } from '../../spans/term.ts'
import { readTimeUs } from '../../spans/time.ts'
import { asObject, errorLine, jsonBytes } from './own-payload.ts'
import type { OwnState, OwnTask } from './own-state.ts'

/** A span that is in no store, with its payload. */
export type OwnStep = readonly [SpanHead, Payload]

/** A task of a run, when it ended, and the state that it began with. */
interface OwnTaskOf {
  readonly task: OwnTask
  readonly before: OwnState
  readonly endUs: number
}

/** A run beside its head: its states, newest first, and the error that it ended with. */
export interface OwnRunStates {
  readonly states: readonly OwnState[]
  /** As JSON; null for none. */
  readonly error: string | null
  readonly price: PriceModel
}

/**
 * The spans below a run. A message counts as a call of a model once: a node may write again what
 * was there before it, as a subgraph does that returns the whole conversation.
 */
export function stepsOf(root: SpanHead,
  { states, error, price }: OwnRunStates): readonly OwnStep[] {
  const seen = new Set(messagesBefore(states))
  const tasks = [...doneTasks(root, states), ...blamed(lastTasks(root, states), error)]
  const calls = new Map(tasks.toReversed().map((one) => {
    const own = modelCalls(one.task).filter(({ id }) => typeof id !== 'string' || !seen.has(id))
    for (const { id } of own) if (typeof id === 'string') seen.add(id)
    return [one, own] as const
  }))
  return tasks.flatMap((one) => {
    const step = stepOf(root, one)
    return [step, ...calls.get(one)!.map((message, n) => modelStep(step, { message, n, price }))]
  })
}

/** Ids of the messages that the oldest of the states has: the run did not write them. */
function messagesBefore(states: readonly OwnState[]): readonly string[] {
  const values = states.at(-1)?.values
  const items = Object.values(isObject(values) ? values : {}).flat().filter(isObject)
  return items.flatMap(({ type, id }) => type === 'ai' && typeof id === 'string' ? [id] : [])
}

/** A state that a run made is what the tasks of the state before it led to. */
function doneTasks(root: SpanHead, states: readonly OwnState[]): readonly OwnTaskOf[] {
  const byId = new Map(states.map((state) => [state.checkpoint_id, state]))
  return states.filter(({ metadata: { run_id: run, source } }) =>
    run === root.id && source === 'loop'
  )
    .flatMap((state) => {
      const before = byId.get(state.parent_checkpoint_id ?? '')
      const endUs = readTimeUs(state.created_at) ?? root.startUs
      return before === undefined ? [] : tasksOf(before).map((task) => ({ task, before, endUs }))
    })
}

/** Tasks of the last state that failed or wait for an answer. They have led to no further state. */
function lastTasks({ id, endUs, startUs }: SpanHead,
  [last]: readonly OwnState[]): readonly OwnTaskOf[] {
  if (last === undefined || last.metadata.run_id !== id) return []
  return tasksOf(last).map((task) => ({ task, before: last, endUs: endUs ?? startUs }))
}

/**
 * The tasks with the error of the run. A run may end before the error of its task is written: if
 * only one task did not end, that one gets the error.
 */
function blamed(tasks: readonly OwnTaskOf[], error: string | null): readonly OwnTaskOf[] {
  const open = tasks.filter(({ task: { error: own, result, interrupts = [] } }) =>
    typeof own !== 'string' && (result ?? null) === null && interrupts.length === 0
  )
  if (error === null || open.length !== 1 || open.length !== tasks.length) return tasks
  return [{ ...open[0]!, task: { ...open[0]!.task, error } }]
}

function tasksOf({ tasks }: OwnState): readonly OwnTask[] {
  return tasks.filter(({ name }) => name !== '__start__')
}

function stepOf(root: SpanHead, { task, before, endUs }: OwnTaskOf): OwnStep {
  const { id: taskId, name, error, result, interrupts = [] } = task
  const failed = typeof error === 'string'
  const startUs = Math.max(root.startUs, readTimeUs(before.created_at) ?? 0)
  const step = (before.metadata.step ?? 0) + 1
  const metadata = { langgraph_node: name, langgraph_step: step, thread_id: root.thread,
    run_id: root.id }
  const head = below(root, namedId('ownStep', `${root.id}\n${taskId}`), startUs, { name,
    type: 'chain', endUs: Math.max(startUs, endUs), failed }, step)
  const outputs = interrupts.length > 0 ? { __interrupt__: interrupts } : result
  return [{ ...head, terms: [...head.terms, ...Object.entries(metadata).flatMap(termsOfPair)] }, {
    inputs: jsonBytes(asObject('input', before.values)),
    extra: jsonBytes({ metadata }),
    ...outputs !== null && outputs !== undefined &&
      { outputs: jsonBytes(asObject('output', outputs)) },
    ...failed && { error: jsonBytes(errorText(error)) },
  }]
}

/** The messages of models that a task wrote, if they say what they cost. */
function modelCalls({ result }: OwnTask): readonly Readonly<Record<string, unknown>>[] {
  const written = [result].flat().flatMap((each) => (isObject(each) ? Object.values(each) : []))
  return written.flat().filter(isObject)
    .filter(({ type, usage_metadata: usage }) => type === 'ai' && isObject(usage))
}

/** A message of a model, its place among those of its task, and what models cost. */
interface ModelMessage {
  readonly message: Readonly<Record<string, unknown>>
  readonly n: number
  readonly price: PriceModel
}

function modelStep([parent, { extra }]: OwnStep, { message, n, price }: ModelMessage): OwnStep {
  const names = modelOf(message)
  const { model, provider } = names
  const head = below(parent, namedId('ownStep', `${parent.id}\n${n}`), parent.startUs, {
    name: model ?? 'model',
    type: 'llm',
    endUs: parent.endUs,
    failed: false,
    ...price(names, modelUsage(message['usage_metadata']), parent.startUs),
  })
  // The metadata of its step: they say where in the thread it was asked.
  const { metadata } = extra === undefined ? {} : JSON.parse(extra.toString()) as {
    readonly metadata?: object
  }
  return [head, { inputs: jsonBytes({}), outputs: jsonBytes({ messages: [message] }),
    extra: jsonBytes({
      metadata: { ...metadata, ...model !== undefined && { ls_model_name: model },
        ...provider !== undefined && { ls_provider: provider } },
    }) }]
}

/** A span below another one of the same trace. */
function below(
  { tenant, project, trace, traceStartUs, dottedOrder, thread, arrivedUs, id: parent }: SpanHead,
  id: string,
  startUs: number,
  fields: Partial<SpanFields>,
  step = 0,
): SpanHead {
  const { name, failed } = fields
  // Several steps may begin in one millisecond: the rest of the time keeps them in their order.
  const orderUs = startUs + Math.min(Math.max(step, 0), 999)
  return { ...noFields, ...fields, tenant, project, trace, traceStartUs, id, startUs, parent,
    root: false, thread, arrivedUs, dottedOrder: `${dottedOrder}.${segmentOf(orderUs, id)}`,
    terms: [
      ...name ? [termOf.name(name)] : [],
      ...thread === null ? [] : [termOf.thread(thread)],
      ...failed ? [termOf.error] : [],
    ], blocks: [], feedback: [] }
}

function termsOfPair([key, value]: readonly [string, unknown]) {
  return [termOf.metadataKey(key), termOf.metadata(key, String(value))]
}

function errorText(error: string): string {
  try {
    const value: unknown = JSON.parse(error)
    return isObject(value) ? errorLine(value) : error
  } catch {
    return error
  }
}
