/** The last entry of the bar of a phone: it opens a sheet with all other pages. */

import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'

import { Icon } from '../parts/icon.tsx'
import { useKeys } from '../parts/keys.ts'
import css from './rail.module.css'

/** The entry and its sheet. It closes when a page is opened, or something else has the focus. */
export function PhoneMore({ children }: { readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const place = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(() => setOpen(false), [place])
  useKeys('Everywhere', isOpen
    ? { Escape: { words: 'Close the list of pages', act: () => setOpen(false) } }
    : {})
  return (
    <div ref={box} className={css['more']} onBlur={({ relatedTarget }) => {
      if (relatedTarget !== null && !box.current!.contains(relatedTarget)) setOpen(false)
    }}>
      <button type="button" aria-expanded={isOpen} aria-controls={isOpen ? 'more-pages' : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
        <span>More</span>
      </button>
      {isOpen && <div id="more-pages" className={css['sheet']}>{children}</div>}
    </div>
  )
}
