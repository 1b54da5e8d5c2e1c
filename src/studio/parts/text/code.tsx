/** A block of code: its colours come late, and it is read before they do. */

import { useMemo } from 'react'
import type { ReactNode } from 'react'

import css from './code.module.css'
import { useLoaded } from './use-loaded.ts'

/** Code as it was written in a language, with its button; an empty language has no colours. */
export function Code({ text, language, children }: {
  readonly text: string
  readonly language: string
  readonly children: ReactNode
}) {
  const colours = useLoaded(() => import('./code-words.ts'), language !== '')
  const words = useMemo(() => colours?.codeWords(text, language), [colours, text, language])
  return (
    <div className={css['code']}>
      <pre tabIndex={0} role="group" aria-label="Code" dir="ltr"><code>
        {words === undefined ? text : words.map(({ kind, text: word }, place) =>
          kind === 'plain' ? word : <span key={place} className={css[kind]}>{word}</span>)}
      </code></pre>
      {children}
    </div>
  )
}
