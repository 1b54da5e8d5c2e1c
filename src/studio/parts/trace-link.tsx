/** From a run of this server to its trace. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { serverInfo } from '../api/server.ts'
import { Icon } from './icon.tsx'

/** The project in the address of a trace whose project is not known yet. */
export const unknownProject = '-'

/** A link; nothing on a server without traces. It asks for nothing until it is followed. */
export function TraceLink({ runId, className, children }: {
  readonly runId: string
  readonly className?: string
  readonly children?: ReactNode
}) {
  const { data: info } = useQuery(serverInfo)
  if (info?.features?.traces === false) return null
  return (
    <Link to="/traces/$project/$trace" params={{ project: unknownProject, trace: runId }}
      search={{}} preload={false} className={className} title="What this run did, span by span"
    >
      {children ?? (
        <>
          <Icon name="traces" size={14} /> Trace
        </>
      )}
    </Link>
  )
}
