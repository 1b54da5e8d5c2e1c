/** The browser's own dialog: for what must open at once, without more code. */

import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'

import css from './modal.module.css'

/** A dialog above the page. Escape and a click beside it close it. */
export function Modal({ label, close, children }: {
  readonly label: string
  readonly close: () => void
  readonly children: ReactNode
}) {
  const place = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    const dialog = place.current!
    dialog.showModal()
    return () => {
      dialog.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog ref={place} role="dialog" aria-label={label} className={css['modal']}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }} onClick={({ target, currentTarget }) => target === currentTarget && close()}
    >
      {children}
    </dialog>
  )
}
