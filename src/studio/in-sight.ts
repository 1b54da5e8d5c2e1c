/** Visibility of the tab: a browser has few connections, and all tabs share them. */

/** Resolves when the tab is seen, or the signal is aborted. */
export function inSight(signal: AbortSignal): Promise<void> {
  const seen = Promise.withResolvers<void>()
  const look = () => {
    if (!isHidden() || signal.aborted) seen.resolve()
  }
  look()
  document.addEventListener('visibilitychange', look)
  signal.addEventListener('abort', look)
  return seen.promise.finally(() => {
    document.removeEventListener('visibilitychange', look)
    signal.removeEventListener('abort', look)
  })
}

/** Signal that ends with another one, or when the tab is hidden. */
export interface Sight {
  readonly signal: AbortSignal
  /** Looks no longer. */
  readonly forget: () => void
}

/** A signal that is aborted when the tab is hidden. */
export function untilHidden(signal: AbortSignal): Sight {
  const hidden = new AbortController()
  const look = () => {
    if (isHidden()) hidden.abort(new Error('Nobody looks at the tab.'))
  }
  document.addEventListener('visibilitychange', look)
  return { signal: AbortSignal.any([signal, hidden.signal]),
    forget: () => document.removeEventListener('visibilitychange', look) }
}

/** True if nobody looks at the tab. */
export const isHidden = () => document.visibilityState === 'hidden'
