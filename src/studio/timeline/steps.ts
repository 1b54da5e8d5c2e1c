/** Steps of a thread as the time line names them, filters them, and folds them. */

import { attemptOf } from '../api/attempt.ts'
import { failuresOf } from '../failures/failure.ts'
import type { ThreadState } from '../api/states.ts'
import { textOf } from '../api/content.ts'
import { between } from '../live/node-times.ts'
import type { Knot } from './lanes.ts'

/** A step with a name. */
export interface Step extends Knot {
  /** The checkpoint that it shows: of a failure the one whose tasks failed. */
  readonly checkpointId: string
  readonly kind: 'input' | 'loop' | 'update' | 'fork'
  /** Names of the nodes that ran, or the words that a run was given. */
  readonly label: string
  /** Words that the step said, the error that it failed with, or the channels that it wrote. */
  readonly said: string
  /** Its number; undefined for an input. */
  readonly number: number | undefined
  /** The turn that an input begins, from 1; undefined if steps before it were not read. */
  readonly turn: number | undefined
  readonly tookMs: number | undefined
  readonly status: 'waiting' | 'failed' | undefined
  readonly runId: string | undefined
  readonly attempt: number
  /** Names of the nodes that made it, or that failed. */
  readonly nodes: readonly string[]
  /** Steps that are folded into it. */
  readonly folded: number
  /** The folded one whose words are the label. */
  readonly inputId?: string
  /** The nodes after it failed, which is a step of its own. */
  readonly failsNext?: boolean
}

/** Words of steps, by checkpoint: what it was given, and what it said. */
export type StepWords = ReadonlyMap<string, string>

/**
 * Steps, newest first, with their names. An input and the step that only takes it in are one; what
 * failed is a step of its own, by the names of its nodes.
 */
export function stepsOf(history: readonly ThreadState[], words: StepWords): readonly Step[] {
  const known = new Map(history.map((state) => [state.checkpoint_id, state]))
  const turns = turnsOf(history)
  const tried = new Set(history.filter(({ metadata }) => metadata?.source === 'loop')
    .map(({ parent_checkpoint_id: parent }) => parent))
  return joined(history.flatMap((state) => {
    const id = state.checkpoint_id!
    const step = { ...stepOf(state, known.get(state.parent_checkpoint_id), words),
      turn: turns.get(id) }
    return tried.has(id) ? [step] : withFailure(step, state)
  }))
}

function stepOf(state: ThreadState, parent: ThreadState | undefined,
  words: StepWords): Omit<Step, 'turn'> {
  const { source = 'loop', step, run_id: runId } = state.metadata ?? {}
  const attempt = attemptOf(state.metadata)
  const id = state.checkpoint_id!
  const nodes = source === 'loop' ? namesOf(parent) : []
  const said = words.get(id) ?? ''
  return { id, checkpointId: id, parent: state.parent_checkpoint_id ?? undefined, kind: source,
    runId, nodes, attempt, number: source === 'input' ? undefined : step, folded: 0,
    status: waits(state) ? 'waiting' : undefined, label: labelOf(source, nodes, said),
    said: isBare(source, nodes) ? '' : said === '' ? channelsOf(state) : said,
    tookMs: source === 'input'
      ? undefined
      : between(parent?.created_at, state.created_at) ?? undefined }
}

/** A turn begins with each input. One that was edited begins the same turn again. */
function turnsOf(history: readonly ThreadState[]): ReadonlyMap<string, number> {
  const inputs = new Set<string>()
  const turns = new Map<string, number>()
  for (const { checkpoint_id: id, parent_checkpoint_id: parent, metadata } of history
    .toReversed()) {
    const before = parent == null ? 0 : turns.get(parent)
    const isInput = metadata?.source === 'input'
    if (isInput) inputs.add(id!)
    if (before === undefined) continue
    const isEdited = isInput && parent != null && inputs.has(parent)
    turns.set(id!, isInput && !isEdited ? before + 1 : before)
  }
  return turns
}

/** A step whose tasks failed has one with their names behind it, or in its place if it is bare. */
function withFailure(step: Step, state: ThreadState): readonly Step[] {
  const failures = failuresOf(state)
  const [first] = failures
  if (first === undefined) return [step]
  const nodes = [...new Set(failures.flatMap(({ node = [] }) => node))]
  const failed: Step = { ...step, kind: 'loop', nodes, label: nodes.join(', '), status: 'failed',
    said: short(`${first.name}: ${first.message}`), tookMs: undefined }
  if (isTaking(step)) return [failed]
  return [{ ...failed, id: `${step.id} failed`, parent: step.id,
    number: step.number === undefined ? undefined : step.number + 1 }, { ...step, failsNext: true }]
}

/** A step that only takes an input in, or whose nodes are not known as the one before is not. */
const isTaking = ({ kind, nodes }: Step) => kind === 'loop' && nodes.length === 0

/** Inputs with the steps that take them in: one row, which shows the state that has the input. */
function joined(steps: readonly Step[]): readonly Step[] {
  const known = new Map(steps.map((step) => [step.id, step]))
  const inputOf = ({ parent = '' }: Step) => {
    const input = known.get(parent)
    return input?.kind === 'input' ? input : undefined
  }
  const gone = new Map<string, string | undefined>()
  for (const step of steps) {
    if (!isTaking(step)) continue
    const input = inputOf(step)
    if (input === undefined) gone.set(step.id, step.parent)
    else gone.set(input.id, input.parent)
  }
  const below = (id: string | undefined): string | undefined =>
    id !== undefined && gone.has(id) ? below(gone.get(id)) : id
  return steps.filter(({ id }) => !gone.has(id)).map((step): Step => {
    const input = isTaking(step) ? inputOf(step) : undefined
    if (input === undefined) return { ...step, parent: below(step.parent) }
    const { kind, label, turn } = input
    return { ...step, kind, label, turn, number: undefined, said: '', tookMs: undefined,
      inputId: input.id, parent: below(input.parent) }
  })
}

/** The row of a checkpoint. Where something failed there, it is that for `node`, or for `any`. */
export function rowIdOf(steps: readonly Step[], checkpointId: string | undefined,
  node: string | undefined | { readonly any: true }): string | undefined {
  const rows = steps.filter((step) =>
    step.checkpointId === checkpointId || step.inputId === checkpointId
  )
  const wanted = rows.find(({ status, nodes }) =>
    status === 'failed' && (typeof node === 'object' || nodes.includes(node ?? ''))
  )
  return (wanted ?? rows.find(({ status }) => status !== 'failed') ?? rows[0])?.id
}

/** Words for the place of a step, as in "Branch from step 3". */
export const placeWords = (
  { kind, turn, number }: Pick<Step, 'kind' | 'turn' | 'number'>,
): string =>
  kind === 'input' ? turn === undefined ? 'the input' : `turn ${turn}` : `step ${number ?? ''}`

/** Inputs have their words as a label, and nothing ran before the first step. */
const isBare = (source: Step['kind'], nodes: readonly string[]) =>
  source === 'input' || (source === 'loop' && nodes.length === 0)

const namesOf = (parent: ThreadState | undefined) =>
  [...new Set(parent?.tasks?.map(({ name }) => name) ?? [])].filter((name) => name !== '__start__')

function labelOf(source: Step['kind'], nodes: readonly string[], said: string): string {
  switch (source) {
    case 'input':
      return said === '' ? 'Input' : said
    case 'update':
      return 'Edit'
    case 'fork':
      return 'Copy'
    case 'loop':
      return nodes.join(', ')
  }
}

function channelsOf({ channels = {} }: ThreadState): string {
  return Object.keys(channels).filter((name) => !/^(__|branch:)/.test(name)).join(', ')
}

const waits = ({ tasks = [] }: ThreadState): boolean =>
  tasks.some(({ error, interrupts = [] }) => error == null && interrupts.length > 0)

/** Steps with those left out that are not shown; each leads down to the next one that is. */
export function contracted(steps: readonly Step[],
  isShown: (step: Step) => boolean): readonly Step[] {
  const known = new Map(steps.map((step) => [step.id, step]))
  const shown = new Map(steps.map((step) => [step.id, isShown(step)]))
  return steps.filter(({ id }) => shown.get(id)).map((step) => {
    let { parent } = step
    let folded = 0
    while (parent !== undefined && shown.get(parent) === false) {
      parent = known.get(parent)?.parent
      folded++
    }
    return folded === 0 ? step : { ...step, parent, folded }
  })
}

/** Each run as one row, beside the steps where branches begin and those in `kept`. */
export function foldedRuns(steps: readonly Step[], kept: ReadonlySet<string>): readonly Step[] {
  const known = new Map(steps.map((step) => [step.id, step]))
  const children = new Map<string, number>()
  const goesOn = new Set<string>()
  for (const { parent, runId } of steps) {
    if (parent === undefined) continue
    children.set(parent, (children.get(parent) ?? 0) + 1)
    if (runId !== undefined && known.get(parent)?.runId === runId) goesOn.add(parent)
  }
  const inputs = new Map<string, Step>()
  for (const step of steps) {
    if (step.kind === 'input' && step.runId !== undefined) inputs.set(step.runId, step)
  }
  return contracted(steps,
    ({ id }) => !goesOn.has(id) || (children.get(id) ?? 0) > 1 || kept.has(id)).map((step) => {
      const input = inputs.get(step.runId ?? '')
      return step.folded === 0 || input === undefined
        ? step
        : { ...step, label: input.label, inputId: input.inputId ?? input.id }
    })
}

/** Steps to show: of a node, of a run, or only the inputs of runs. */
export interface StepFilter {
  readonly node?: string | undefined
  readonly run?: string | undefined
  readonly inputs?: boolean | undefined
}

/** True if a filter shows a step. */
export function passes(step: Step, { node, run, inputs = false }: StepFilter): boolean {
  return (node === undefined || step.nodes.includes(node)) &&
    (run === undefined || step.runId === run) && (!inputs || step.kind === 'input')
}

/** The words of what a step wrote, by node: of a message, or the tools that it calls. */
export function wordsOf(writes: unknown): string {
  for (const written of Object.values(Object(writes) as Record<string, unknown>)) {
    const words = wordsOfWrite(written)
    if (words !== '') return words
  }
  return ''
}

function wordsOfWrite(written: unknown): string {
  const { messages } = Object(written) as { messages?: unknown }
  const last = Array.isArray(messages) ? messages.at(-1) as unknown : messages
  if (typeof last === 'string') return short(last)
  const { content, tool_calls: calls } = Object(last) as { content?: unknown; tool_calls?: unknown }
  if (Array.isArray(calls) && calls.length > 0) {
    return `→ ${calls.map((call) => String(Object(call).name)).join(', ')}`
  }
  return short(textOf(content))
}

const short = (text: string) => text.slice(0, 200).replace(/\s+/g, ' ').trim().slice(0, 90)
