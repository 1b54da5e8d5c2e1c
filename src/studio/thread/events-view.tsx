/** The events of a run as they came. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState, useSyncExternalStore } from 'react'

import { apiUrl } from '../api/place.ts'
import { isSignedIn } from '../session.ts'
import type { EventLog, EventLogState } from '../live/event-log.ts'
import { count, counted, size } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { saveText } from '../parts/save-text.ts'
import { curlFor, dataOf, isShown, linesOf, placeWords, readEvent,
  runOf } from './events/event-words.ts'
import type { EventFilter, ReadEvent } from './events/event-words.ts'
import { EventList } from './events/event-list.tsx'
import { useLastEvents } from './events/use-last-events.ts'
import css from './events/events.module.css'

/** Events of the runs that this page followed, with filters by kind and node. */
export function EventsView({ log, threadId }: {
  readonly log: EventLog
  readonly threadId: string
}) {
  useLastEvents(threadId, log)
  const live = useSyncExternalStore(log.subscribe, log.state)
  const [paused, setPaused] = useState<EventLogState>()
  const state = paused ?? live
  const filter: EventFilter = useSearch({ strict: false })
  const [chosen, setChosen] = useState<ReadEvent>()
  const all = useMemo(() => state.events.map(readEvent), [state])
  const rows = useMemo(() => all.filter((one) => isShown(one, filter)), [all, filter.mode,
    filter.node])
  if (all.length === 0) {
    return (
      <Empty title="No events yet">
        <p>Events of a run are shown here as they come. The last ones are kept for a while.</p>
      </Empty>
    )
  }
  const missed = paused === undefined ? 0 : live.events.length + live.dropped
    - paused.events.length - paused.dropped
  return (
    <section className={css['events']} aria-label="Events">
      <header className={css['bar']}>
        <Totals rows={rows} all={all.length} dropped={state.dropped} />
        <Filters all={all} filter={filter} />
        <span className={css['acts']}>
          <Button small icon={<Icon name={paused === undefined ? 'pause' : 'play'} size={14} />}
            aria-pressed={paused !== undefined}
            onClick={() => setPaused(paused === undefined ? live : undefined)}
          >
            {paused === undefined
              ? 'Pause'
              : `Go on${missed > 0 ? `, ${count(missed)} newer` : ''}`}
          </Button>
          <CopyButton label="Copy as curl" icon="link"
            text={() => curlFor(apiUrl, threadId, runOf(state.events), isSignedIn())} />
          <Button small kind="quiet" label="Download as NDJSON"
            icon={<Icon name="download" size={14} />} onClick={() =>
            saveText(`events-${threadId.slice(-8)}.ndjson`, linesOf(rows.map(({ event }) =>
              event
            ), state.beganMs))} />
        </span>
      </header>
      {rows.length === 0
        ? (
          <Empty title="None matches">
            <p>None of the {count(all.length)} events is of this kind and node.</p>
          </Empty>
        )
        : (
          <EventList rows={rows} beganMs={state.beganMs} chosen={chosen} choose={setChosen}
            follow={paused === undefined} />
        )}
      {chosen !== undefined && <Detail read={chosen} close={() => setChosen(undefined)} />}
    </section>
  )
}

function Totals({ rows, all, dropped }: {
  readonly rows: readonly ReadEvent[]
  readonly all: number
  readonly dropped: number
}) {
  const bytes = rows.reduce((sum, each) => sum + each.bytes, 0)
  return (
    <span className={css['meta']}>
      {rows.length === all
        ? counted(all, 'event')
        : `${count(rows.length)} of ${counted(all, 'event')}`}
      {`, ${size(bytes)}`}
      {dropped > 0 && <span>{`, ${count(dropped)} older ones left out`}</span>}
    </span>
  )
}

function Filters({ all, filter }: {
  readonly all: readonly ReadEvent[]
  readonly filter: EventFilter
}) {
  const navigate = useNavigate()
  const modes = [...new Set(all.map(({ mode }) => mode))].sort()
  const nodes = [...new Set(all.flatMap((one) => one.nodes))].sort()
  const set = (change: EventFilter) =>
    void navigate({ to: '.', replace: true, search: (old) => ({ ...old, ...change }) })
  return (
    <>
      <Select aria-label="Kind of event" value={filter.mode ?? ''} className={css['select']}
        onChange={({ target }) => set({ mode: target.value || undefined })}
      >
        <option value="">all kinds</option>
        {withChosen(modes, filter.mode).map((mode) => <option key={mode}>{mode}</option>)}
      </Select>
      <Select aria-label="Node" value={filter.node ?? ''} className={css['select']}
        onChange={({ target }) => set({ node: target.value || undefined })}
      >
        <option value="">all nodes</option>
        {withChosen(nodes, filter.node).map((node) => (
          <option key={node} value={node}>{node.replaceAll(':', ' › ')}</option>
        ))}
      </Select>
    </>
  )
}

const withChosen = (words: readonly string[], chosen: string | undefined): readonly string[] =>
  chosen === undefined || words.includes(chosen) ? words : [...words, chosen]

function Detail({ read, close }: { readonly read: ReadEvent; readonly close: () => void }) {
  const { event, mode, bytes } = read
  const data = useMemo(() => dataOf(event), [event])
  return (
    <section className={css['detail']} aria-label="Data of the event">
      <header>
        <strong title={event.event}>{mode}</strong>
        <span className={css['meta']}>
          {[placeWords(read), event.id, size(bytes)].filter(Boolean).join(' · ')}
        </span>
        <CopyButton text={event.text} label="Copy the data" />
        <Button small kind="quiet" label="Close the data" icon={<Icon name="close" size={14} />}
          onClick={close} />
      </header>
      <JsonTree key={event.id + event.atMs} value={data} name={mode} open={2} fill />
    </section>
  )
}
