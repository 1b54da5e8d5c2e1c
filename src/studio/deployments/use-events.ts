/** Follows the events of a deployment: each of them makes what is shown of it be asked again. */

import { useEffect, useState } from 'react'

import { queries } from '../api/query.ts'
import { after } from '../env.ts'
import { followEvents } from './calls/control.ts'
import type { DeploymentEvent } from './calls/deployment.ts'
import { eventsMax, withEvents } from './event-words.ts'

/** Events that come at once are drawn at once, and asked about once. */
const gatherMs = 150

/** What is known of the events. */
export interface FollowedEvents {
  /** The newest first. */
  readonly events: readonly DeploymentEvent[]
  readonly isOpen: boolean
  readonly error: unknown
  readonly away: Error | undefined
}

/** Follows the events while the page is seen. */
export function useEvents(name: string): FollowedEvents {
  const [events, setEvents] = useState<readonly DeploymentEvent[]>([])
  const [isOpen, setOpen] = useState(false)
  const [error, setError] = useState<unknown>()
  const [away, setAway] = useState<Error>()
  useEffect(() => {
    const leave = new AbortController()
    let gathered: DeploymentEvent[] = []
    let forget: (() => void) | undefined
    const flush = () => {
      const more = gathered
      gathered = []
      forget = undefined
      setEvents((before) => withEvents(before, more))
      if (more.every(({ kind }) => kind === 'build')) return
      void queries.invalidateQueries({ queryKey: ['deployments', name] })
    }
    const read = async () => {
      for await (const event of followEvents(name, { signal: leave.signal, away: setAway,
        opened: () => setOpen(true) })) {
        gathered.push(event)
        // The oldest would not be shown anyway.
        if (gathered.length > eventsMax) gathered.shift()
        forget ??= after(gatherMs, flush)
      }
    }
    read().catch((thrown: unknown) => {
      if (leave.signal.aborted) return
      setAway(undefined)
      setError(thrown)
    })
    return () => {
      leave.abort()
      forget?.()
    }
  }, [name])
  return { events, isOpen, error, away }
}
