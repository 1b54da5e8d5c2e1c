/** A word in a pill: a tag, a key of metadata, a hint such as "now". */

import type { ReactNode } from 'react'

import css from './chip.module.css'

/** The meaning of a chip's colour. */
export type ChipTone = 'plain' | 'accent' | 'running' | 'waiting' | 'failed' | 'done'

/** Small label with a tone for a state or a property. */
export function Chip({ tone = 'plain', title, children }: {
  readonly tone?: ChipTone
  readonly title?: string
  readonly children: ReactNode
}) {
  return <span className={`${css['chip']} ${css[tone]}`} title={title}>{children}</span>
}
