/** Events that a change of a deployment has with it, until somebody has noted them. Pure. */

import type { Deployment } from '../deployment.ts'
import type { NewEvent, OwedEvent } from '../deployment-event.ts'

/** Changes that are made at once have fewer events than that. */
const marksOfStep = 1_000
/** Events that a record has at most: the oldest are given up where none can be noted for long. */
const owedMax = 200

/** What is owed after the next change, without what is noted up to a mark. */
export function owedWith({ owed, step }: Pick<Deployment, 'owed' | 'step'>,
  events: readonly NewEvent[], notedMark = 0): readonly OwedEvent[] {
  const mark = (step + 1) * marksOfStep
  return [...owed.filter((event) => event.mark > notedMark),
    ...events.map((event, index) => ({ ...event, mark: mark + index }))].slice(-owedMax)
}
