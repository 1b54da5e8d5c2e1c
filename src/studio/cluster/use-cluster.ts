/** Follows the cluster while the page is seen. */

import { useEffect, useState } from 'react'

import { followCluster } from '../api/cluster.ts'
import { nowMs } from '../env.ts'
import { afterEvent } from './cluster-state.ts'
import type { ClusterState } from './cluster-state.ts'

/** What is known of the cluster. */
export interface FollowedCluster {
  /** Undefined before the first answer. */
  readonly state: ClusterState | undefined
  /** Why the server refuses; undefined if it does not. */
  readonly error: unknown
  /** True while the connection is broken. */
  readonly away: boolean
  /** Asks again after a refusal. */
  readonly retry: () => void
}

/** Follows the cluster. A hidden tab follows nothing, and sees all of it when it is back. */
export function useCluster(): FollowedCluster {
  const [state, setState] = useState<ClusterState>()
  const [error, setError] = useState<unknown>()
  const [away, setAway] = useState(false)
  const [tries, setTries] = useState(0)
  useEffect(() => {
    let leave = new AbortController()
    const begin = async () => {
      leave.abort()
      leave = new AbortController()
      const { signal } = leave
      if (document.visibilityState === 'hidden') return
      try {
        for await (const event of followCluster(signal, setAway)) {
          setState((before) => afterEvent(before, event, new Date(nowMs()).toISOString()))
        }
      } catch (thrown) {
        if (!signal.aborted) setError(thrown)
      }
    }
    const changed = () => void begin()
    changed()
    document.addEventListener('visibilitychange', changed)
    return () => {
      document.removeEventListener('visibilitychange', changed)
      leave.abort()
    }
  }, [tries])
  const retry = () => {
    setError(undefined)
    setTries(tries + 1)
  }
  return { state, error, away, retry }
}
