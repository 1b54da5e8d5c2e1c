/** Steps of a thread as the time line names them, filters them, and folds them. */

import { attemptOf } from '../api/attempt.ts'
import type { ThreadState } from '../api/states.ts'
import { textOf } from '../api/content.ts'
import type { Knot } from './lanes.ts'

/** A step with a name. */
export interface Step extends Knot {
  readonly state: ThreadState
  readonly kind: 'input' | 'loop' | 'update' | 'fork'
  /** Names of the nodes that ran, or the words that a run was given. */
  readonly label: string
  /** Words that the step said, or the channels that it wrote. */
  readonly said: string
  /** Its number; -1 is the first input. */
  readonly number: number | undefined
  readonly tookMs: number | undefined
  readonly status: 'waiting' | 'failed' | undefined
  readonly runId: string | undefined
  readonly attempt: number
  /** Names of the nodes that made it. */
  readonly nodes: readonly string[]
  /** Steps that are folded into it. */
  readonly folded: number
  /** The folded one whose words are the label. */
  readonly inputId?: string
}

/** Words of steps, by checkpoint: what it was given, and what it said. */
export type StepWords = ReadonlyMap<string, string>

/** Steps, newest first, with their names. */
export function stepsOf(history: readonly ThreadState[], words: StepWords): readonly Step[] {
  const known = new Map(history.map((state) => [state.checkpoint_id, state]))
  return history.map((state) => stepOf(state, known.get(state.parent_checkpoint_id), words))
}

function stepOf(state: ThreadState, parent: ThreadState | undefined, words: StepWords): Step {
  const { source = 'loop', step, run_id: runId } = state.metadata ?? {}
  const attempt = attemptOf(state.metadata)
  const id = state.checkpoint_id!
  const nodes = source === 'loop' ? namesOf(parent) : []
  const said = words.get(id) ?? ''
  return { id, parent: state.parent_checkpoint_id ?? undefined, state, kind: source, runId, nodes,
    attempt, number: step, folded: 0, status: statusOf(state), label: labelOf(source, nodes, said),
    said: isBare(source, nodes) ? '' : said === '' ? channelsOf(state) : said,
    tookMs: source === 'input' ? undefined : between(parent?.created_at, state.created_at) }
}

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
      return nodes.length === 0 ? 'start' : nodes.join(', ')
  }
}

function channelsOf({ channels = {} }: ThreadState): string {
  return Object.keys(channels).filter((name) => !/^(__|branch:)/.test(name)).join(', ')
}

function statusOf({ tasks = [] }: ThreadState): Step['status'] {
  if (tasks.some(({ error }) => error != null)) return 'failed'
  return tasks.some(({ interrupts = [] }) => interrupts.length > 0) ? 'waiting' : undefined
}

function between(from: string | null | undefined, to: string | null | undefined) {
  return from == null || to == null ? undefined : Math.max(0, Date.parse(to) - Date.parse(from))
}

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
        : { ...step, label: input.label, inputId: input.id }
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
