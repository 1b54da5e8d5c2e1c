/** The line below a list while rows are chosen: how many, and what may be done to them. */

import type { ReactNode } from 'react'

import { count } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import type { Choice } from './choice.ts'
import css from './choice-bar.module.css'

/** Line with the number of chosen rows, and the actions on them as children. */
export function ChoiceBar({ label, choice, total, choose, end, children }: {
  readonly label: string
  readonly choice: Choice
  /** Number of rows that match; undefined while nobody knows. */
  readonly total: number | undefined
  readonly choose: (choice: Choice) => void
  readonly end: () => void
  readonly children: ReactNode
}) {
  const isAll = choice === 'all'
  const all = total === undefined ? 'All that match' : `All ${count(total)} that match`
  return (
    <div className={css['bar']} role="toolbar" aria-label={label}>
      <span role="status">{isAll ? all : `${count(choice.size)} chosen`}</span>
      <Button small kind="quiet" onClick={() => choose(isAll ? new Set() : 'all')}
        disabled={total === 0}
      >
        {isAll ? 'Choose none' : all}
      </Button>
      <span className={css['acts']}>
        {children}
        <Button small kind="quiet" onClick={end}>Done</Button>
      </span>
    </div>
  )
}
