/** An editor of JSON. Its larger part is loaded when it is first shown. */

import { lazy, Suspense } from 'react'

import css from './json-editor.module.css'
import { Skeleton } from '../parts/skeleton.tsx'

/** Text in the editor, its label, its fault, and the callback of changes. */
export interface JsonEditorProps {
  readonly label: string
  readonly text: string
  readonly change: (text: string) => void
  /** Fault of the text in the server's words. */
  readonly fault?: string | undefined
  /** Takes the whole height of a flex column; otherwise it grows with the text, up to a bound. */
  readonly fill?: boolean
}

const Code = lazy(async () => ({ default: (await import('./json-code.tsx')).JsonCode }))

/** Edits a text of JSON; `fault` stands below it. */
export function JsonEditor({ label, text, change, fault, fill = false }: JsonEditorProps) {
  return (
    <div className={`${css['editor']} ${fill ? css['fill'] : ''}`}>
      <div className={css['frame']} data-fault={fault !== undefined}>
        <Suspense fallback={
          <div className={css['loading']}>
            <Skeleton width="40%" />
          </div>
        }>
          <Code label={label} text={text} change={change} />
        </Suspense>
      </div>
      <p className={css['fault']} role="alert">{fault}</p>
    </div>
  )
}
