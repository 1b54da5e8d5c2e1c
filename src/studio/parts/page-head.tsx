/** The head of a page: its title, what stands beside it, and what may be done here. */

import type { ReactNode } from 'react'

import css from './page-head.module.css'

/** A head; `aside` is what stands small beside the title, `acts` the buttons at the right. */
export function PageHead({ title, before, aside, acts, children }: {
  readonly title: string
  /** The way back, at the left. */
  readonly before?: ReactNode
  readonly aside?: ReactNode
  readonly acts?: ReactNode
  readonly children?: ReactNode
}) {
  return (
    <header className={css['head']}>
      <div className={css['line']}>
        {before}
        <h1>{title}</h1>
        {aside !== undefined && <span className={css['aside']}>{aside}</span>}
        {acts !== undefined && <div className={css['acts']}>{acts}</div>}
      </div>
      {children}
    </header>
  )
}
