/** The events of a run as they came. */

import type { EventLog } from '../live/event-log.ts'

/** The view. */
export function EventsView({ log }: { readonly log: EventLog; readonly threadId: string }) {
  return <p>{log.state().events.length}</p>
}
