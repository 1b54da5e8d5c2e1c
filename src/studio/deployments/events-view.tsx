/** The events of a deployment: what was done, by whom and when. The newest first. */

import { useCallback, useRef, useState } from 'react'

import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Moment, TimeText } from '../parts/times/time-text.tsx'
import { RowGrid } from '../rows/row-grid.tsx'
import { useRowKeys } from '../rows/row-keys.ts'
import type { DeploymentEvent } from '../api/control/deployment.ts'
import css from './parts/deployments.module.css'
import { detailsOf, eventsMax, eventWords, kindWords } from './event-words.ts'
import { JsonText } from './parts/json-text.tsx'
import type { FollowedEvents } from './use-events.ts'

const rowHeight = 44

/** List of the events of a deployment, the newest first. */
export function EventsView({ followed: { events, isOpen, error } }: {
  readonly followed: FollowedEvents
}) {
  const [active, setActive] = useState(0)
  const [opened, setOpened] = useState<number>()
  const box = useRef<HTMLDivElement>(null)
  const seen = useCallback(() => {}, [])
  useRowKeys({ title: 'Events', noun: 'event', count: events.length, active, activate: setActive,
    box })
  if (error !== undefined) {
    return (
      <div className={css['notice']}>
        <ErrorNotice error={error} />
      </div>
    )
  }
  if (events.length === 0) {
    return isOpen
      ? (
        <Empty title="Nothing has happened yet">
          <p>Uploads, checks, roll-outs and changes of secrets are kept here.</p>
        </Empty>
      )
      : (
        <div className={css['notice']}>
          <Skeleton width="100%" height={120} />
        </div>
      )
  }
  const whole = events.find(({ seq }) => seq === opened)
  return (
    <div className={css['columns']}>
      <RowGrid label="Events of the deployment" name="event" total={events.length}
        rowHeight={rowHeight} active={active} activate={setActive} box={box} place="events"
        seen={seen} open={(index) => setOpened(events[index]?.seq)}
        row={(index) => (
          <EventRow event={events[index]!} open={() => {
            setActive(index)
            setOpened(events[index]?.seq)
          }} />
        )} />
      {whole && <Whole event={whole} close={() => setOpened(undefined)} />}
      {events.length === eventsMax && <p className="unseen">The newest {eventsMax} are shown.</p>}
    </div>
  )
}

function EventRow({ event, open }: { readonly event: DeploymentEvent; readonly open: () => void }) {
  return (
    <div className={css['event']} onClick={open}>
      <span role="gridcell" className={css['kind']}>{kindWords(event.kind)}</span>
      <span role="gridcell" className={css['ellipsis']} dir="auto">{eventWords(event)}</span>
      <span role="gridcell" className={css['by']}>{event.by}</span>
      <span role="gridcell" className={css['when']}>
        <TimeText iso={event.at} />
      </span>
    </div>
  )
}

function Whole({ event, close }: {
  readonly event: DeploymentEvent
  readonly close: () => void
}) {
  return (
    <JsonText title={`${kindWords(event.kind)}, no. ${event.seq}`} value={detailsOf(event)}
      close={close}
    >
      <p dir="auto">{eventWords(event)}</p>
      <p className={css['meta']}>
        <Moment iso={event.at} seconds />, by {event.by}
      </p>
    </JsonText>
  )
}
