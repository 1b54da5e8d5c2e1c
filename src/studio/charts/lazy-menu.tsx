/** A menu that is loaded when somebody comes near its button. */

import { lazy, Suspense, useState } from 'react'

import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import type { MenuAct } from '../parts/menu.tsx'

const loadMenu = () => import('../parts/menu.tsx')
const Menu = lazy(async () => ({ default: (await loadMenu()).Menu }))

/** The button with its menu. */
export function LazyMenu({ label, acts }: {
  readonly label: string
  readonly acts: readonly MenuAct[]
}) {
  const [isWanted, setWanted] = useState(false)
  const trigger = (press?: () => void) => (
    <Button kind="quiet" small icon={<Icon name="more" />} label={label} aria-haspopup="menu"
      {...press && { onClick: press }} onPointerEnter={() => void loadMenu()}
      onFocus={() => void loadMenu()} />
  )
  if (!isWanted) return trigger(() => setWanted(true))
  return (
    <Suspense fallback={trigger()}>
      <Menu startsOpen trigger={trigger()} acts={acts} />
    </Suspense>
  )
}
