/** A time in which something that was decided can be taken back before it is done. */

import { useCallback, useEffect, useRef, useState } from 'react'

import { after } from '../env.ts'

/** Seconds in which an approval can be taken back. */
export const undoSeconds = 5

/** Something that is due, and what may be done about it. */
export interface Undo<Given> {
  readonly isDue: boolean
  readonly begin: (given: Given) => void
  readonly undo: () => void
  /** Does it without the rest of the time. */
  readonly now: () => void
}

/** Does something after the time, and at once when the component or the page is left. */
export function useUndo<Given>(act: (given: Given) => void): Undo<Given> {
  const due = useRef<{ readonly given: Given; readonly forget: () => void }>(undefined)
  const latest = useRef(act)
  latest.current = act
  const [isDue, setDue] = useState(false)
  const undo = useCallback(() => {
    due.current?.forget()
    due.current = undefined
    setDue(false)
  }, [])
  const now = useCallback(() => {
    const { current } = due
    if (current === undefined) return
    undo()
    latest.current(current.given)
  }, [undo])
  const begin = useCallback((given: Given) => {
    due.current?.forget()
    due.current = { given, forget: after(undoSeconds * 1_000, now) }
    setDue(true)
  }, [now])
  useEffect(() => {
    addEventListener('pagehide', now)
    return () => {
      removeEventListener('pagehide', now)
      now()
    }
  }, [now])
  return { isDue, begin, undo, now }
}
