/** The way from a replayed run to the run that was recorded, in the Studio of its deployment. */

import type { ReactNode } from 'react'

import type { ReplayedRun } from '../../api/control/replays.ts'
import { studioOf } from '../../api/place.ts'

/** Link to the run on its thread; only its words if the thread ended with the run. */
export function RecordedRunLink({ name, run, ask, className, children }: {
  readonly name: string
  readonly run: Pick<ReplayedRun, 'thread_id' | 'run_id' | 'stateless'>
  /** The question that the page opens with. */
  readonly ask?: 'copy'
  readonly className?: string
  readonly children: ReactNode
}) {
  const { thread_id: thread, run_id: id, stateless } = run
  if (stateless) return <bdi>{children}</bdi>
  const search = new URLSearchParams({ view: 'runs', run: id, ...ask && { ask } })
  return (
    <a className={className} dir="auto" href={`${studioOf(name).href}threads/${thread}?${search}`}>
      {children}
    </a>
  )
}
