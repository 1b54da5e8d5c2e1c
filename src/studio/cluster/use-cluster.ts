/** Follows the cluster while the page is seen. */

import { useEffect, useState } from 'react'

import { followCluster } from '../api/cluster.ts'
import { nowMs } from '../env.ts'
import { afterEvent } from './cluster-state.ts'
import type { ClusterState } from './cluster-state.ts'

/** State of the cluster, and of the connection that follows it. */
export interface FollowedCluster {
  /** Undefined before the first answer. */
  readonly state: ClusterState | undefined
  /** Why the server refuses for good; undefined if it does not. */
  readonly error: unknown
  /** Why there is no connection now; it is tried again. */
  readonly away: Error | undefined
  /** Asks again at once. */
  readonly retry: () => void
}

/** Follows the cluster while the page is seen. */
export function useCluster(): FollowedCluster {
  const [state, setState] = useState<ClusterState>()
  const [error, setError] = useState<unknown>()
  const [away, setAway] = useState<Error>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    const leave = new AbortController()
    const read = async () => {
      for await (const event of followCluster(leave.signal, setAway)) {
        setState((before) => afterEvent(before, event, new Date(nowMs()).toISOString()))
      }
    }
    read().catch((thrown: unknown) => {
      if (leave.signal.aborted) return
      setAway(undefined)
      setError(thrown)
    })
    return () => leave.abort()
  }, [tries])
  const retry = () => {
    setError(undefined)
    setTries(tries + 1)
  }
  return { state, error, away, retry }
}
