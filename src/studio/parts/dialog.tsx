/** A dialog above the page: it takes the focus and gives it back. */

import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'

import { Button } from './button.tsx'
import css from './dialog.module.css'
import { Icon } from './icon.tsx'

/** A dialog, or with `side` a drawer at the right edge. */
export function Dialog({ open, close, title, side = false, children }: {
  readonly open: boolean
  readonly close: () => void
  readonly title: string
  readonly side?: boolean
  readonly children: ReactNode
}) {
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && close()}>
      <Base.Portal>
        <Base.Backdrop className={css['backdrop']} />
        <Base.Popup className={side ? css['drawer'] : css['dialog']}>
          <header>
            <Base.Title>{title}</Base.Title>
            <Base.Close
              render={<Button kind="quiet" small icon={<Icon name="close" />} label="Close" />}
            />
          </header>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
