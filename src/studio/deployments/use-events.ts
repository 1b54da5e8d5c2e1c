/** Follows the events of a deployment: each of them makes what is shown of it be asked again. */

import { useState } from 'react'

import { queries } from '../api/query.ts'
import { followEvents } from '../api/control/control.ts'
import type { DeploymentEvent } from '../api/control/deployment.ts'
import { eventsMax, withEvents } from './event-words.ts'
import { useFollowed } from '../api/control/use-followed.ts'
import type { Connection } from '../api/control/use-followed.ts'

/** Events that come at once are asked about once. */
const gatherMs = 150

/** Events of a deployment, and the connection that brings them. */
export interface FollowedEvents extends Connection {
  /** The newest first. */
  readonly events: readonly DeploymentEvent[]
}

/** Follows the events while the page is seen. */
export function useEvents(name: string): FollowedEvents {
  const [events, setEvents] = useState<readonly DeploymentEvent[]>([])
  const connection = useFollowed({
    key: name,
    follow: (following) => followEvents(name, following),
    take: (more: readonly DeploymentEvent[]) => {
      setEvents((before) => withEvents(before, more))
      if (more.every(({ kind }) => kind === 'build')) return
      void queries.invalidateQueries({ queryKey: ['deployments', name] })
    },
    gatherMs,
    gatheredMax: eventsMax,
  })
  return { ...connection, events }
}
