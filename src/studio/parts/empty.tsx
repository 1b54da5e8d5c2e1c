/** Hint in a place that has nothing to show yet. */

import type { ReactNode } from 'react'

import css from './empty.module.css'

/** A heading, a sentence, and what may be done. */
export function Empty({ title, isPage = false, children }: {
  readonly title: string
  /** True if it stands for the whole page, which needs a heading of its own. */
  readonly isPage?: boolean
  readonly children?: ReactNode
}) {
  return (
    <div className={css['empty']}>
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  )
}
