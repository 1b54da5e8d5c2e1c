/** Place on the line to a step at which a node ran, or would run. */

import type { ThreadState } from '../api/states.ts'

/** The newest state on the line to `from` whose tasks have the node, and what it made there. */
export interface NodePlace {
  /** The state that the node read. */
  readonly read: ThreadState
  /** The step that it made; undefined if it has not ended. */
  readonly made: ThreadState | undefined
}

/** The newest place of a node; undefined if none of the steps has it. */
export function placeOf(node: string, steps: readonly ThreadState[], from: string | undefined):
  | NodePlace
  | undefined {
  const known = new Map(steps.map((step) => [step.checkpoint_id, step]))
  let made: ThreadState | undefined
  for (let step = known.get(from); step !== undefined;) {
    const isOfRun = made === undefined || made.metadata?.source === 'loop'
    if (isOfRun && step.tasks?.some(({ name }) => name === node)) return { read: step, made }
    made = step
    step = known.get(step.parent_checkpoint_id)
  }
  return undefined
}

/** True if another node called it with an input of its own, which no state has. */
export const isCalled = ({ read }: NodePlace, node: string): boolean =>
  read.tasks?.some(({ name, path }) => name === node && path?.[0] === '__pregel_push') ?? false
