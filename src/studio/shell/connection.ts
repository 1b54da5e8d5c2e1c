/** State of the connection to the server. Data that was lost is asked again when it is back. */

import { useSyncExternalStore } from 'react'

import { ask } from '../api/ask.ts'
import { ApiError } from '../api/client.ts'
import { queries } from '../api/query.ts'
import { every } from '../env.ts'
import { isHidden } from '../in-sight.ts'

const tryMs = 1_000

let isLost = false
let stop: (() => void) | undefined
const listeners = new Set<() => void>()

/** Watches all questions. Called once. */
export function watchConnection(): void {
  queries.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated') return
    const { action } = event
    if (action.type === 'success' && action.manual !== true) set(false)
    if ((action.type === 'failed' || action.type === 'error') && isSilence(action.error)) set(true)
  })
}

/** True while the server does not answer. */
export function useIsLost(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, () => isLost)
}

const isSilence = (error: unknown): boolean => error instanceof ApiError && error.status === 0

function set(lost: boolean): void {
  if (lost === isLost) return
  isLost = lost
  stop?.()
  stop = lost ? every(tryMs, () => void tryAgain()) : undefined
  // Everything that is shown may be old.
  if (!lost) void queries.invalidateQueries()
  for (const listener of listeners) listener()
}

/** Nothing is asked in a tab that nobody looks at. */
async function tryAgain(): Promise<void> {
  if (isHidden()) return
  const answers = await ask('GET /ok').then(() => true, (error: unknown) => !isSilence(error))
  if (answers) set(false)
}
