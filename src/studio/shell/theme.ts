/** The colours: those of the system, or chosen by a person. `public/theme.js` sets them first. */

import { useSyncExternalStore } from 'react'

/** Colours of the page: for the day or the night. */
export type Theme = 'light' | 'dark'

const system = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

function current(): Theme {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : system.matches ? 'dark' : 'light'
}

/** Chooses colours, also for the next visits. */
export function chooseTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
  try {
    localStorage.setItem('studio.theme', theme)
  } catch {
    // Without storage the choice holds for this visit.
  }
  for (const listener of listeners) listener()
}

/** Colours of the page now, as they change. */
export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    system.addEventListener('change', listener)
    return () => {
      listeners.delete(listener)
      system.removeEventListener('change', listener)
    }
  }, current)
}
