/** The height of a row of the time line: taller where fingers choose. */

import { useSyncExternalStore } from 'react'

const phone = matchMedia('(max-width: 719px)')

/** True on a phone, where each part of the thread is a pane of its own. */
export const isPhone = (): boolean => phone.matches

/** Height of a row in pixels: 44 on a phone, else 34. */
export function useRowHeight(): number {
  const isTall = useSyncExternalStore((listener) => {
    phone.addEventListener('change', listener)
    return () => phone.removeEventListener('change', listener)
  }, isPhone)
  return isTall ? 44 : 34
}
