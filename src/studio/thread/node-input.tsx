/** Input of a node, asked for on request, since it may be of megabytes. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { stateAt } from '../api/states.ts'
import { Button } from '../parts/button.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'

/** The input of a node that read the state of a checkpoint. */
export function NodeInput({ threadId, checkpointId, isCalled }: {
  readonly threadId: string
  readonly checkpointId: string
  /** Another node called it with an input of its own. */
  readonly isCalled: boolean
}) {
  const [isWanted, setWanted] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: ['read', threadId, checkpointId],
    enabled: isWanted && !isCalled,
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: ({ signal }) => stateAt(threadId, checkpointId, ['values'], signal),
  })
  if (!isWanted) {
    return (
      <div>
        <Button small onClick={() => setWanted(true)}>Show what it read</Button>
      </div>
    )
  }
  if (isCalled) return <p>Another node called it with an input of its own, which no step keeps.</p>
  if (error !== null) return <ErrorNotice error={error} retry={() => void refetch()} />
  return data === undefined
    ? <Skeleton width="70%" />
    : <JsonTree value={data.values ?? {}} name="What it read" height={12} />
}
