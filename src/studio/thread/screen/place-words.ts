/** Words for the place of a step in a thread. */

import type { ThreadState } from '../../api/states.ts'

/** As in "Branch from step 3". What a run was given has no number. */
export function placeOfState({ metadata }: Pick<ThreadState, 'metadata'>): string {
  const { source, step } = metadata ?? {}
  return source === 'input' ? 'the input' : `step ${step ?? '…'}`
}
