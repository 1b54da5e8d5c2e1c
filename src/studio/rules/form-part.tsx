/** A part of the form of a rule. */

import type { ReactNode } from 'react'

import css from './rules.module.css'

/** Fields with a name of their own. */
export function FormPart({ title, children }: {
  readonly title: string
  readonly children: ReactNode
}) {
  return (
    <fieldset className={css['part']}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  )
}
