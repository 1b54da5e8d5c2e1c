/** A module that is fetched where somebody needs it. */

import { useEffect, useState } from 'react'

/** Value of `load`; undefined until it is there, if it fails, and where it is not needed. */
export function useLoaded<Loaded extends object>(load: () => Promise<Loaded>, isNeeded: boolean):
  | Loaded
  | undefined {
  const [loaded, setLoaded] = useState<Loaded>()
  useEffect(() => {
    // The text is there without it.
    if (isNeeded) void load().then(setLoaded, () => {})
  }, [isNeeded])
  return loaded
}
