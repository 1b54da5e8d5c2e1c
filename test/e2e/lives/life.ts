/** The random life of a thread: a sequence of operations, made from a seed. */

import { Chance } from '../../simulation/chance.ts'
import type { Act, Script } from '../../support/projects/lives/roaming.ts'

/** A run to start, without ids, which differ between the server and the twin. */
export interface RunPlan {
  readonly input?: unknown
  /** Answers the pending interrupts: one value, all of them by id, or the first by id. */
  readonly answer?: { readonly how: 'value' | 'each' | 'first'; readonly value: unknown }
  readonly goto?: readonly (string | { readonly node: string; readonly input: unknown })[]
  readonly update?: Readonly<Record<string, unknown>>
  /** Index of the checkpoint to start from, newest first; the head if missing. */
  readonly from?: number
  readonly durability: 'async' | 'sync' | 'exit'
  readonly interruptBefore?: readonly string[]
  readonly interruptAfter?: readonly string[]
}

export interface Edit {
  readonly values: unknown
  readonly asNode?: string
  /** As for a run. */
  readonly from?: number
  /** Index of the waiting subgraph that is edited. */
  readonly inside?: number
}

export type Deed =
  | { readonly deed: 'run'; readonly run: RunPlan }
  /** The run is rolled back when it gets to this node. */
  | { readonly deed: 'undo'; readonly run: RunPlan; readonly node: string }
  /** The server is restarted when the run gets to this node. */
  | { readonly deed: 'crash'; readonly run: RunPlan; readonly node: string }
  | { readonly deed: 'edit'; readonly edit: Edit }
  | { readonly deed: 'copy' }

/** A deed on one of the copies of the thread. */
export type Event = Deed & { readonly on: number }

export interface Life {
  readonly seed: number
  readonly graph: 'roaming' | 'hoarding' | 'narrow'
  /** The server is restarted between two parts. */
  readonly parts: readonly (readonly Event[])[]
}

const nodes = ['a', 'b', 'c', 'worker', 'sub', 'kept', 'calls'] as const
const inside = ['one', 'two', 'bottom'] as const
const workers = ['a', 'b', 'c', 'worker', 'one', 'two', 'bottom', 'late'] as const

/** What a run may name: of other nodes it is refused, which the engine ignores. */
const nodesOf = { roaming: nodes, hoarding: nodes, narrow: ['a', 'b', 'worker'] as const }
type Nodes = typeof nodesOf[Life['graph']]

export const partsOfLife = 3
const eventsMax = 4

export function lifeOf(seed: number): Life {
  const chance = new Chance(seed)
  const graph = chance.pick(
    ['roaming', 'roaming', 'roaming', 'hoarding', 'hoarding', 'narrow'] as const,
  )
  const known = nodesOf[graph]
  return {
    seed,
    graph,
    parts: Array.from({ length: partsOfLife }, (_, part) => {
      const many = Array.from({ length: 1 + chance.below(eventsMax) }, () => eventOf(chance, known))
      // Intended: what is kept as what was added to it the engine reads back with all that was
      // written on a checkpoint, also by tasks that another one than the next came of.
      if (part === partsOfLife - 1 || graph === 'hoarding' || chance.flip(0.6)) return many
      const run = runOf(chance, known)
      // Known: the engine drops a `false` for several interrupts; a resumed run is given it.
      if (run.answer?.how === 'value' && !run.answer.value) return many
      // Known: an empty input streams no values, but a run that continues streams its current ones.
      if (run.input && Object.keys(run.input).length === 0) return many
      return [...many, { deed: 'crash' as const, on: chance.below(3), run,
        node: chance.pick(workers) }]
    }),
  }
}

function eventOf(chance: Chance, known: Nodes): Event {
  const on = chance.below(3)
  const at = chance.number()
  if (at < 0.62) return { deed: 'run', on, run: runOf(chance, known) }
  if (at < 0.76) return { deed: 'undo', on, run: runOf(chance, known), node: chance.pick(workers) }
  if (at < 0.92) return { deed: 'edit', on, edit: editOf(chance) }
  return { deed: 'copy', on }
}

function editOf(chance: Chance): Edit {
  return {
    values: chance.flip(0.15) ? null : valuesOf(chance),
    ...chance.flip(0.6) && { asNode: chance.pick([...nodes, '__end__', '__input__', '__copy__']) },
    ...chance.flip(0.3) && { from: chance.below(8) },
    ...chance.flip(0.25) && { inside: chance.below(2), asNode: chance.pick(inside) },
  }
}

function runOf(chance: Chance, known: Nodes): RunPlan {
  return {
    ...planOf(chance, known),
    ...chance.flip(0.2) && { from: chance.below(10) },
    durability: chance.pick(['async', 'async', 'sync', 'exit'] as const),
    ...chance.flip(0.15) && { interruptBefore: [chance.pick<string>(known)] },
    ...chance.flip(0.15) && { interruptAfter: [chance.pick<string>(known)] },
  }
}

function planOf(chance: Chance,
  known: Nodes): Pick<RunPlan, 'input' | 'answer' | 'goto' | 'update'> {
  const at = chance.number()
  if (at < 0.4) return { input: valuesOf(chance) }
  if (at < 0.5) return { input: null }
  if (at < 0.88) {
    const value = chance.pick<unknown>(['yes', 'no', 7, false, null, { deep: [1] }])
    return {
      answer: { how: chance.pick(['value', 'value', 'each', 'first'] as const), value },
      ...chance.flip(0.15) && { update: valuesOf(chance) },
      ...chance.flip(0.1) && { goto: [chance.pick<string>(known)] },
    }
  }
  return {
    goto: chance.flip(0.7)
      ? [chance.pick<string>(known)]
      : [{ node: 'worker', input: { text: 'sent', script: scriptOf(chance) } }],
    ...chance.flip(0.5) && { update: valuesOf(chance) },
  }
}

function valuesOf(chance: Chance): Record<string, unknown> {
  return {
    ...chance.flip(0.85) && { script: scriptOf(chance) },
    ...chance.flip(0.5) && { log: [`input ${chance.below(100)}`] },
    ...chance.flip(0.3) && { sum: chance.below(5) },
    ...chance.flip(0.3) && { mark: `mark ${chance.below(9)}` },
    ...chance.flip(0.3) &&
      {
        messages: [{ role: 'user', id: `m${chance.below(4)}`,
          content: `words ${chance.below(9)}` }],
      },
  }
}

function scriptOf(chance: Chance): Script {
  // One alone: of two that throw beside each other it is chance who comes first.
  const bold = chance.pick(workers)
  const seen = workers.filter(() => chance.flip(0.4))
    .map((node) => [node, actsOf(chance, node, node === bold)] as const)
  const begin = chance.flip(0.4) &&
    Array.from({ length: 1 + chance.below(3) }, (): Act =>
      chance.flip(0.6)
        ? { goto: chance.pick(nodes) }
        : { send: chance.pick(['worker', 'worker', 'sub']), text: `t${chance.below(9)}` })
  return { ...begin && { begin }, ...Object.fromEntries(seen) }
}

function actsOf(chance: Chance, node: string, isBold: boolean): Act[] {
  return Array.from({ length: 1 + chance.below(2) }, () => actOf(chance, node, isBold))
}

function actOf(chance: Chance, node: string, isBold: boolean): Act {
  const isInside = (inside as readonly string[]).includes(node)
  const at = chance.number()
  if (at < 0.15) return { say: `words ${chance.below(9)}` }
  if (at < 0.5) return { ask: `question ${chance.below(99)}` }
  if (at < 0.64) return isBold ? { boom: `bang ${chance.below(9)}` } : { mark: `from ${node}` }
  if (at < 0.8 && isInside) {
    return node === 'one' && chance.flip(0.6) ? { goto: 'under' } : { leave: chance.pick(nodes) }
  }
  if (at < 0.8) {
    return chance.flip(0.6)
      ? { goto: chance.pick(nodes) }
      : { send: chance.pick(['worker', 'worker', 'sub']), text: `t${chance.below(9)}` }
  }
  if (at < 0.93) return { message: `m${chance.below(4)}`, text: `said ${chance.below(9)}` }
  return { forget: `m${chance.below(4)}` }
}
