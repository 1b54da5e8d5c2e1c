/** An answer that is one of several: a button for each. */

import type { ReactNode } from 'react'

import { Button } from '../parts/button.tsx'
import css from './interrupts.module.css'
import type { AnswerProps } from './answer-props.ts'
import type { Choice } from './question.ts'

/** Buttons with the possible answers to a question. */
export function ChoiceAnswer({ choices, give, canUndo = false, children }:
  & Pick<AnswerProps, 'give'>
  & {
    readonly choices: readonly Choice[]
    readonly canUndo?: boolean
    /** Further buttons. */
    readonly children?: ReactNode
  }) {
  return (
    <div className={css['acts']}>
      {choices.map(({ label, value }, i) => (
        // Two choices may be called the same.
        // oxlint-disable-next-line no-array-index-key
        <Button key={i} className={css['choice']} title={label}
          onClick={() => give(value, canUndo)}
        >
          <span dir="auto">{label}</span>
        </Button>
      ))}
      {children}
    </div>
  )
}
