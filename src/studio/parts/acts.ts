/** Actions on the screen that is shown, for the command palette. */

import { useEffect, useRef } from 'react'

/** An action, and its words in the palette. */
export interface Act {
  readonly words: string
  readonly act: () => void
}

const screens: { acts: readonly Act[] }[] = []

/** The acts of the screen that is shown, the innermost part first. */
export const actsNow = (): readonly Act[] => screens.toReversed().flatMap(({ acts }) => acts)

/** Offers acts in the palette while the component is shown. */
export function useActs(acts: readonly Act[]): void {
  const place = useRef({ acts })
  place.current.acts = acts
  useEffect(() => {
    const mine = place.current
    screens.push(mine)
    return () => void screens.splice(screens.indexOf(mine), 1)
  }, [])
}
