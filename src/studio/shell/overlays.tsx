/** Overlays that open above every page by a key: the command palette and the list of keys. */

import { lazy, Suspense, useState } from 'react'

import { useKeys } from '../parts/keys.ts'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }))

/** Opens the command palette or the list of keys, each by its key. */
export function Overlays() {
  const [open, setOpen] = useState<'palette' | 'keys'>()
  const close = () => setOpen(undefined)
  useKeys('Everywhere', {
    'mod+k': { words: 'Go to, or do', act: () => setOpen('palette') },
    '?': { words: 'All keys', act: () => setOpen('keys') },
  })
  return (
    <Suspense>
      {open === 'palette' && <Palette close={close} />}
      {open === 'keys' && <KeyList close={close} />}
    </Suspense>
  )
}
