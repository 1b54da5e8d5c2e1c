/** The places of a form whose text is no value now. */

import { useCallback, useRef } from 'react'

/** Notes whether a place is broken, and passes all that are to the listener. */
export function useBroken(
  listener: ((places: readonly string[]) => void) | undefined,
): (place: string, isBroken: boolean) => void {
  const places = useRef(new Set<string>())
  const latest = useRef(listener)
  latest.current = listener
  return useCallback((place: string, isBroken: boolean) => {
    if (places.current.has(place) === isBroken) return
    if (isBroken) places.current.add(place)
    else places.current.delete(place)
    latest.current?.([...places.current])
  }, [])
}
