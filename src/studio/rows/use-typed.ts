/** A text while it is typed: passed on when the typing rests, so that nothing lags behind it. */

import { useEffect, useRef, useState } from 'react'

import { after } from '../env.ts'

/** The text, and a way to set it. What others write into `value` replaces what was typed. */
export function useTyped(value: string, change: (text: string) => void,
  restMs: number): readonly [text: string, set: (text: string) => void] {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const latest = useRef(change)
  latest.current = change
  useEffect(() => {
    // The address may change otherwise: by the back button, or by a saved view.
    if (value !== sent.current) setTyped(value)
    sent.current = value
  }, [value])
  useEffect(() => {
    if (typed === sent.current) return undefined
    return after(restMs, () => {
      sent.current = typed
      latest.current(typed)
    })
  }, [typed, restMs])
  return [typed, setTyped]
}
