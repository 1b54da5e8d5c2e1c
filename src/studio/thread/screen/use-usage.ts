/** Time, tokens and cost of a thread, once no run goes on. */

import { useQuery } from '@tanstack/react-query'

import { usageOf } from '../../api/platform/thread-usage.ts'
import { keysOf } from './newest-state.ts'

/** The use of a thread; undefined before it is known, and for a thread without runs. */
export function useUsage(id: string, isWanted: boolean) {
  const { data } = useQuery({ queryKey: [...keysOf(id).thread, 'usage'], enabled: isWanted,
    queryFn: ({ signal }) => usageOf(id, signal) })
  return data
}
