/** The words of two texts: those that stayed, those that went and those that came. */

import type { WordPart } from './word-parts.ts'

/** The words; with a side, only those that this side has. */
export function ChangedWords({ parts, side }: {
  readonly parts: readonly WordPart[]
  readonly side?: 'before' | 'after' | undefined
}) {
  return parts.map(({ kind, text }, at) => {
    if (kind === 'same') return <span key={at}>{text}</span>
    if (kind === 'removed') return side === 'after' ? null : <del key={at}>{text}</del>
    return side === 'before' ? null : <ins key={at}>{text}</ins>
  })
}
