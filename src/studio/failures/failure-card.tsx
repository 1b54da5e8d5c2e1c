/** Why something failed: the node, the error as it came, its places in the project. */

import type { ReactNode } from 'react'

import type { Failure } from './failure.ts'
import { count } from '../parts/amounts.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import css from './failure-card.module.css'
import { StatusGlyph } from '../parts/status.tsx'

/** Characters of a message that are shown at once, and those that are shown at most. */
const shownMax = 600
const openedMax = 20_000

/** Card of an error; `children` are what may be done. */
export function FailureCard({ failure, children }: {
  readonly failure: Failure
  readonly children?: ReactNode
}) {
  const { node, name, message, stack } = failure
  return (
    <section className={css['card']} role="alert" aria-label={`${node ?? 'The run'} failed`}>
      <header>
        <StatusGlyph status="failed" />
        <p className={css['title']} dir="auto">
          <b>{node?.replaceAll(':', ' › ') ?? 'The run'}</b> failed
        </p>
        <CopyButton label="Copy the error"
          text={[`${name}: ${message}`, stack].filter(Boolean).join('\n')} />
      </header>
      <p className={css['message']} dir="auto">
        <b>{name.slice(0, 200)}</b> {message.slice(0, shownMax)}
        {message.length > shownMax && '…'}
      </p>
      {message.length > shownMax && (
        <details>
          <summary>The whole message ({count(message.length)} characters)</summary>
          <pre tabIndex={0} role="group" aria-label="The whole message" dir="auto">
            {message.slice(0, openedMax)}
            {message.length > openedMax && '\n… Copy it to read the rest.'}
          </pre>
        </details>
      )}
      {stack !== '' && (
        <details>
          <summary>Stack</summary>
          <pre tabIndex={0} role="group" aria-label="Stack">{stack.slice(0, openedMax)}</pre>
        </details>
      )}
      {children !== undefined && <footer>{children}</footer>}
    </section>
  )
}
