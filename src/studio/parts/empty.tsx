/** What a place says that has nothing to show yet. */

import type { ReactNode } from 'react'

import css from './empty.module.css'

/** A heading, a sentence, and what may be done. */
export function Empty({ title, children }: {
  readonly title: string
  readonly children?: ReactNode
}) {
  return (
    <div className={css['empty']}>
      <h2>{title}</h2>
      {children}
    </div>
  )
}
