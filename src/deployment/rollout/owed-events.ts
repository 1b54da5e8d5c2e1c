/** Events that a change of a deployment carries in its record, until they are noted. Pure. */

import type { Deployment } from '../deployment.ts'
import type { NewEvent, OwedEvent } from '../deployment-event.ts'

/** Marks of one change: no change has as many events. */
const marksOfStep = 1_000
/** Events that a record has at most: the oldest are given up where none can be noted for long. */
const owedMax = 200

/** Owed events after the next change, without those up to the noted mark. */
export function owedWith({ owed, step }: Pick<Deployment, 'owed' | 'step'>,
  events: readonly NewEvent[], notedMark = 0): readonly OwedEvent[] {
  const mark = (step + 1) * marksOfStep
  return [...owed.filter((event) => event.mark > notedMark),
    ...events.map((event, index) => ({ ...event, mark: mark + index }))].slice(-owedMax)
}
