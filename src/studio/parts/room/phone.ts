/** The width of a phone, where things stand below each other and fingers choose. */

import { useSyncExternalStore } from 'react'

const phone = matchMedia('(max-width: 719px)')

/** True on a phone. */
export const isPhone = (): boolean => phone.matches

/** True on a phone; components are drawn again when that changes. */
export function usePhone(): boolean {
  return useSyncExternalStore((listener) => {
    phone.addEventListener('change', listener)
    return () => phone.removeEventListener('change', listener)
  }, isPhone)
}
