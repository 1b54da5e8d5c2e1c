/** The line below a list while rows are chosen: how many, and what may be done to them. */

import { count } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import css from './choice-bar.module.css'

/** Threads that are chosen: single rows, or all that match the filter of the address. */
export type Choice = ReadonlySet<string> | 'all'

/** Line with the number of chosen threads, and the actions on them. */
export function ChoiceBar({ choice, total, refusal, choose, cancel, remove, end }: {
  readonly choice: Choice
  readonly total: number
  /** The reason why this caller may not change anything. */
  readonly refusal: string | undefined
  readonly choose: (choice: Choice) => void
  readonly cancel: () => void
  readonly remove: () => void
  readonly end: () => void
}) {
  const isAll = choice === 'all'
  const isNone = !isAll && choice.size === 0
  const off = isNone || refusal !== undefined
  return (
    <div className={css['bar']} role="toolbar" aria-label="Chosen threads">
      <span role="status">
        {isAll ? `All ${count(total)} that match` : `${count(choice.size)} chosen`}
      </span>
      <Button small kind="quiet" onClick={() => choose(isAll ? new Set() : 'all')}
        disabled={total === 0}
      >
        {isAll ? 'Choose none' : `All ${count(total)} that match`}
      </Button>
      <span className={css['acts']}>
        <Button small disabled={off} title={refusal} onClick={cancel}>Cancel runs …</Button>
        <Button small kind="danger" disabled={off} title={refusal} onClick={remove}>
          Delete …
        </Button>
        <Button small kind="quiet" onClick={end}>Done</Button>
      </span>
    </div>
  )
}
