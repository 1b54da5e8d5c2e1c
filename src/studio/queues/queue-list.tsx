/** The annotation queues: what people are asked to look at. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import type { Queue } from '../../api/index.ts'
import { queueList } from './queue-calls.ts'
import { useRefusal } from '../api/refusal.ts'
import { count, counted } from '../parts/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { Notice } from '../parts/notice.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import { ListBody } from '../rows/list-body.tsx'
import { ListPage, NoMatch } from '../rows/list-page.tsx'
import { QueueForm } from './queue-form.tsx'
import css from './queues.module.css'

/** Page of the annotation queues, with a search by name. */
export function QueueList() {
  const { q = '' } = useSearch({ from: '/queues' })
  const navigate = useNavigate()
  const [isNew, setNew] = useState(false)
  const list = useQuery(queueList(q))
  const refusal = useRefusal('Your key may read, but make no queues.')
  return (
    <ListPage title="Annotation queues" noun="queue" total={list.data?.total}
      make={{ words: 'New queue', refusal, act: () => setNew(true) }}
      search={{ q, filter: (q) => void navigate({ to: '/queues', search: { q }, replace: true }) }}
    >
      <ListBody list={list} isEmpty={({ queues }) => queues.length === 0}
        empty={<NoQueues isFiltered={q !== ''} />}
      >
        {({ queues, total }) => <Queues queues={queues} total={total} />}
      </ListBody>
      {isNew && (
        <QueueForm close={() => setNew(false)} saved={({ id }) =>
          void navigate({ to: '/queues/$id', params: { id }, search: {} })} />
      )}
    </ListPage>
  )
}

function NoQueues({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered
    ? <NoMatch noun="queue" />
    : (
      <Empty title="No queues yet">
        <p>A queue holds runs that people look at one by one, and score.</p>
      </Empty>
    )
}

function Queues({ queues, total }: {
  readonly queues: readonly Queue[]
  readonly total: number
}) {
  return (
    <>
      <ul className={css['queues']} aria-label="Queues">
        {queues.map((queue) => (
          <li key={queue.id}>
            <Link to="/queues/$id" params={{ id: queue.id }} search={{}} dir="auto">
              {queue.name}
            </Link>
            <span className={css['words']} dir="auto" title={queue.description ?? undefined}>
              {queue.description}
            </span>
            <span className={css['number']}>{counted(queue.total_runs, 'run')}</span>
            <span className={css['time']}>
              <TimeText iso={queue.created_at} />
            </span>
          </li>
        ))}
      </ul>
      {queues.length < total && (
        <Notice>These are the first {count(queues.length)}. A name finds the others.</Notice>
      )}
    </>
  )
}
