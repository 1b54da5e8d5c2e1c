/** The choice of what happens to a message that is sent while a run goes on. */

import type { Multitask } from '../api/runs.ts'
import { Select } from '../parts/field.tsx'
import css from './composer.module.css'

/** Handling of a message that is sent while a run is under way, in words. */
export const strategies: Readonly<Record<Multitask, string>> = {
  enqueue: 'Wait in the queue',
  interrupt: 'Stop the run, keep its steps',
  rollback: 'Undo the run',
  reject: 'Refuse',
}

/** A select of the ways. */
export function Strategy({ chosen, choose }: {
  readonly chosen: Multitask
  readonly choose: (strategy: Multitask) => void
}) {
  return (
    <Select className={css['strategy'] ?? ''} aria-label="What happens to a message now"
      value={chosen} title={strategies[chosen]}
      onChange={({ target }) => choose(target.value as Multitask)}
    >
      {Object.entries(strategies).map(([strategy, words]) => (
        <option key={strategy} value={strategy}>{words}</option>
      ))}
    </Select>
  )
}
