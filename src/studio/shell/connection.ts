/** State of the connection to the server. Data that was lost is asked again when it is back. */

import { useSyncExternalStore } from 'react'

import { isAway, onAway, probeBy } from '../away.ts'
import { ApiError, send } from '../api/client.ts'
import { queries } from '../api/query.ts'

/** Watches for absences of the server. Called once. */
export function watchConnection(): void {
  probeBy(() =>
    send('/ok', { isProbe: true }).then(() => true, (error: unknown) =>
      !(error instanceof ApiError && error.status === 0))
  )
  onAway(() => {
    // Everything that is shown may be old.
    if (!isAway()) void queries.invalidateQueries()
  })
}

/** True while the server does not answer. */
export const useIsLost = (): boolean => useSyncExternalStore(onAway, isAway)
