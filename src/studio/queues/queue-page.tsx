/** One queue: its runs are looked at and scored one by one. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { ReactNode } from 'react'

import type { Queue } from '../../api/index.ts'
import { deleteQueue, itemQuery, queueQuery, removeItem, reservation,
  setItemStatus } from './queue-calls.ts'
import type { RunItem } from './queue-calls.ts'
import { ApiError } from '../api/client.ts'
import { useRefusal } from '../api/refusal.ts'
import { counted } from '../parts/amounts.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { useKeys } from '../parts/keys.ts'
import { SpanDetail } from '../traces/span/span-detail.tsx'
import { QueueForm } from './queue-form.tsx'
import css from './queues.module.css'
import { Rubric } from './rubric.tsx'

const AddToDataset = lazy(async () => ({
  default: (await import('../datasets/add-to-dataset.tsx')).AddToDataset,
}))

/** Page of one annotation queue: the run to review, and its rubric. */
export function QueuePage() {
  const { id } = useParams({ from: '/queues/$id' })
  const queue = useQuery(queueQuery(id))
  if (queue.data !== undefined) return <QueueShown queue={queue.data} />
  if (queue.error instanceof ApiError && queue.error.status === 404) {
    return (
      <Empty isPage title="There is no such queue">
        <p>{queue.error.message}</p>
        <Link to="/queues" search={{}} className={buttonClass()}>All queues</Link>
      </Empty>
    )
  }
  return (
    <>
      <PageHead title="Annotation queue" />
      <div className="page">
        {queue.isError
          ? <ErrorNotice error={queue.error} retry={() => void queue.refetch()} />
          : <Skeleton width="60%" height={32} />}
      </div>
    </>
  )
}

function QueueShown({ queue }: { readonly queue: Queue }) {
  const { at = 0 } = useSearch({ from: '/queues/$id' })
  const navigate = useNavigate({ from: '/queues/$id' })
  const queries = useQueryClient()
  const refusal = useRefusal('Your key may read, but change nothing.')
  const found = useQuery({ ...itemQuery(queue.id, at), placeholderData: (before) => before })
  const go = (next: number) => void navigate({ replace: true, search: { at: next || undefined } })
  const { item = null, left = 0, done = 0 } = found.data ?? {}
  const change = useMutation({
    mutationFn: async (act: (item: RunItem) => Promise<unknown>) => item && act(item),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['queues', queue.id] }),
  })
  const isOff = refusal !== undefined || change.isPending || item === null
  const finish = () => {
    if (isOff) return
    change.mutate(({ id }) => setItemStatus(id, 'completed'))
    // The next one takes its place, unless it was the last one.
    if (at > 0 && at === left - 1) go(at - 1)
  }
  const next = () => at < left - 1 && go(at + 1)
  const back = () => at > 0 && go(at - 1)
  useKeys('Queue', {
    'mod+enter': { words: 'Done', act: finish },
    j: { words: 'Next run', act: next },
    k: { words: 'Previous run', act: back },
  })
  return (
    <>
      <Head queue={queue} words={found.data && `${counted(left, 'run')} left, ${done} done`} />
      {change.isError && <ErrorNotice error={change.error} />}
      {found.isError && found.data === undefined
        ? (
          <div className="page">
            <ErrorNotice error={found.error} retry={() => void found.refetch()} />
          </div>
        )
        : found.data === undefined
        ? (
          <div className="page">
            <Skeleton width="60%" height={32} />
          </div>
        )
        : item === null
        ? <Nothing left={left} done={done} first={() => go(0)} />
        : (
          <Review key={item.id} queue={queue} item={item} refusal={refusal}
            remove={isOff ? undefined : () => change.mutate(({ id }) => removeItem(queue.id, id))}
          >
            <Button kind="primary" icon={<Icon name="check" />} disabled={isOff} title={refusal}
              onClick={finish}
            >
              Done
            </Button>
            <Button disabled={at === 0} onClick={back}>Previous</Button>
            <Button disabled={at >= left - 1} onClick={next}>Next</Button>
          </Review>
        )}
    </>
  )
}

/** A run, what is asked about it, and what may be done with it. */
function Review({ queue, item, refusal, remove, children }: {
  readonly queue: Queue
  readonly item: RunItem
  readonly refusal: string | undefined
  readonly remove: (() => void) | undefined
  readonly children: ReactNode
}) {
  const [adding, setAdding] = useState(false)
  useQuery({ ...reservation(queue, item.id), ...refusal !== undefined && { enabled: false } })
  const place = { projectId: item.project_id, spanId: item.run_id }
  const add = () => refusal === undefined && setAdding(true)
  useKeys('Review', { a: { words: 'Add to dataset', act: add } })
  return (
    <div className={css['review']}>
      <div className={css['run']}>
        <SpanDetail {...place} hasDatasetAct={false} />
      </div>
      <aside className={css['side']} aria-label="Review">
        <Rubric queue={queue} item={item} refusal={refusal} />
        <div className={css['acts']}>
          {children}
          <Button icon={<Icon name="plus" />} disabled={refusal !== undefined} title={refusal}
            onClick={add}
          >
            Add to dataset
          </Button>
          <Button kind="quiet" disabled={remove === undefined} title={refusal} onClick={remove}>
            Remove from queue
          </Button>
        </div>
      </aside>
      {adding && (
        <Suspense>
          <AddToDataset place={place} chosen={queue.default_dataset ?? undefined} close={() =>
            setAdding(false)} />
        </Suspense>
      )}
    </div>
  )
}

function Nothing({ left, done, first }: {
  readonly left: number
  readonly done: number
  readonly first: () => void
}) {
  if (left > 0) {
    return (
      <Empty title="That was the last run">
        <Button onClick={first}>To the first one</Button>
      </Empty>
    )
  }
  return (
    <Empty title={done > 0 ? 'All is done' : 'Nothing to look at'}>
      <p>
        {done > 0
          ? 'Nobody waits for you here.'
          : 'Choose traces in the list of a project, and add them; rules add them as well.'}
      </p>
    </Empty>
  )
}

function Head({ queue, words }: {
  readonly queue: Queue
  readonly words: string | undefined
}) {
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const refusal = useRefusal('Your key may read, but change nothing.')
  const close = () => setOpen(undefined)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => deleteQueue(queue.id),
    onSuccess: async () => {
      await navigate({ to: '/queues', search: {} })
      void queries.invalidateQueries({ queryKey: ['queues', 'list'] })
    },
  })
  const isOff = refusal !== undefined
  return (
    <PageHead title={queue.name}
      before={
        <Link to="/queues" search={{}} className={buttonClass('quiet', true, true)}
          aria-label="All queues" title="All queues"
        >
          <Icon name="back" />
        </Link>
      } aside={<span aria-live="polite">{words}</span>} acts={
      <div className={css['headActs']}>
        <Button kind="quiet" small icon={<Icon name="edit" />} aria-label="Change the queue"
          title={refusal ?? 'Change the queue'} disabled={isOff} onClick={() => setOpen('edit')} />
        <Button kind="quiet" small icon={<Icon name="trash" />} aria-label="Delete the queue"
          title={refusal ?? 'Delete the queue'} disabled={isOff}
          onClick={() => setOpen('delete')} />
      </div>
    }>
      {open === 'edit' && <QueueForm queue={queue} close={close} saved={close} />}
      {open === 'delete' && (
        <Dialog open title="Delete this queue?" close={close}>
          <div className={css['form']}>
            <p>What was said of its runs as feedback stays with them.</p>
            {remove.isError && <ErrorNotice error={remove.error} />}
            <div className={css['end']}>
              <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
                Delete queue
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </PageHead>
  )
}
