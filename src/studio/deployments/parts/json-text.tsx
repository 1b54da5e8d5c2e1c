/** A panel beside a list: what is chosen there, with its fields. */

import type { ReactNode } from 'react'

import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import css from './deployments.module.css'

/** The panel. `value` is plain JSON. */
export function JsonText({ title, value, close, children }: {
  readonly title: string
  readonly value: unknown
  readonly close: () => void
  readonly children: ReactNode
}) {
  const text = JSON.stringify(value, null, 2)
  return (
    <section className={css['peek']} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <CopyButton text={text} label="Copy as JSON" />
        <Button kind="quiet" small label="Close" icon={<Icon name="close" />} onClick={close} />
      </header>
      {children}
      <pre tabIndex={0} aria-label="Fields">{text}</pre>
    </section>
  )
}
