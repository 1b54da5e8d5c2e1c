/** A button that opens a list of acts. */

import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'

import css from './menu.module.css'

/** One act of a menu. */
export interface MenuAct {
  readonly label: string
  readonly icon?: ReactNode
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly act: () => void
}

/** The acts of one thing; `trigger` is the button that opens them. */
export function Menu({ trigger, acts, startsOpen = false }: {
  readonly trigger: ReactElement<Record<string, unknown>>
  readonly acts: readonly MenuAct[]
  /** True if the button was pressed before the menu was loaded. */
  readonly startsOpen?: boolean
}) {
  return (
    <Base.Root modal={false} defaultOpen={startsOpen}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner align="end" sideOffset={4} className={css['place']}>
          <Base.Popup className={css['menu']}>
            {acts.map(({ label, icon, danger = false, disabled = false, act }) => (
              <Base.Item key={label} disabled={disabled} onClick={act}
                className={`${css['item']} ${danger ? css['danger'] : ''}`}
              >
                {icon}
                {label}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
