/** The dialogs of acts on many runs: to a dataset, to a queue, a tag, or their deletion. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'

import { createExamples } from '../../api/platform/examples.ts'
import { deleteTraces, spansById } from '../../api/platform/traces.ts'
import { queries } from '../../api/query.ts'
import { DatasetFields, useDatasetTarget } from '../../datasets/dataset-target.tsx'
import { exampleOf } from '../../datasets/example-of.ts'
import { count, counted } from '../../parts/amounts.ts'
import { Button, buttonClass } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, Select, TextField } from '../../parts/field.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import { tagMax, tagRuns } from '../../api/platform/tags.ts'
import { addRunsToQueue, queueList } from '../../queues/queue-calls.ts'
import css from './bench.module.css'
import { runsMax } from './trace-work.ts'
import { useWork } from './use-work.ts'
import { WorkProgress } from './work-progress.tsx'
import type { WorkTarget } from './work-target.ts'

/** Action on many runs. */
export type BenchAct = 'dataset' | 'queue' | 'tag' | 'delete'

/** Runs that the dialog is about. It stays the same when the address changes below it. */
export interface BenchRequest {
  readonly act: BenchAct
  readonly projectId: string
  readonly target: WorkTarget
  /** Noun for one of them, such as `trace`. */
  readonly noun: string
}

/** A dialog. `close` hears whether anything was done. */
interface WorkDialogProps {
  readonly request: BenchRequest
  readonly close: (changed: boolean) => void
}

const titles: Readonly<Record<BenchAct, string>> = { dataset: 'Add to dataset',
  queue: 'Add to queue', tag: 'Tag traces', delete: 'Delete traces' }

/** Dialog of an action on the runs that were chosen. */
export function WorkDialog(props: WorkDialogProps) {
  const { act, target } = props.request
  const work = useWork(target)
  const Body = { dataset: ToDataset, queue: ToQueue, tag: Tag, delete: Delete }[act]
  return (
    <Dialog open close={() => props.close(work.state.kind !== 'asking')} title={titles[act]}>
      <Body {...props} work={work} />
    </Dialog>
  )
}

type BodyProps = WorkDialogProps & { readonly work: ReturnType<typeof useWork> }

/** The runs in words: "20 traces", or all that match. */
const wordsOf = ({ target, noun }: BenchRequest): string =>
  target.kind === 'chosen'
    ? counted(target.ids.length, noun)
    : `All ${noun}s that match, ${count(runsMax)} at most`

function ToDataset({ request, close, work: { state, start, stop } }: BodyProps) {
  const { projectId, noun } = request
  const target = useDatasetTarget()
  const added = useRef('')
  const begin = () =>
    void start(async (ids, signal) => {
      added.current ||= await target.make()
      const spans = await spansById(projectId, ids, signal)
      await createExamples(spans.map((span) => exampleOf(added.current, span)))
    }, () => queries.invalidateQueries({ queryKey: ['datasets'] }))
  if (state.kind !== 'asking') {
    return (
      <WorkProgress state={state} noun={noun} did="added" stop={stop} close={() => close(true)}>
        {added.current !== '' && (
          <Link to="/datasets/$id" params={{ id: added.current }} search={{}}
            className={buttonClass('primary')}
          >
            Open the dataset
          </Link>
        )}
      </WorkProgress>
    )
  }
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      begin()
    }}>
      <p>{wordsOf(request)}, each an example of its inputs and outputs.</p>
      <DatasetFields target={target} />
      <footer>
        <Button onClick={() => close(false)}>Cancel</Button>
        <Button type="submit" kind="primary" disabled={!target.isReady}>Add</Button>
      </footer>
    </form>
  )
}

function ToQueue({ request, close, work: { state, start, stop } }: BodyProps) {
  const list = useQuery(queueList(''))
  const [picked, setPicked] = useState<string>()
  const queue = picked ?? list.data?.queues[0]?.id
  if (state.kind !== 'asking') {
    return (
      <WorkProgress state={state} noun={request.noun} did="added" stop={stop} close={() =>
        close(true)}
      >
        {queue !== undefined && (
          <Link to="/queues/$id" params={{ id: queue }} search={{}}
            className={buttonClass('primary')}
          >
            Open the queue
          </Link>
        )}
      </WorkProgress>
    )
  }
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      if (queue === undefined) return
      void start((ids) => addRunsToQueue(queue, ids),
        () => queries.invalidateQueries({ queryKey: ['queues'] }))
    }}>
      <p>{wordsOf(request)}.</p>
      {list.data?.queues.length === 0
        ? (
          <p>
            There is no queue yet. <Link to="/queues" search={{}}>Make one</Link>
          </p>
        )
        : (
          <Field label="Queue">
            {(ids) => (
              <Select {...ids} value={queue} disabled={list.isPending}
                onChange={({ target: { value } }) => setPicked(value)}
              >
                {list.data?.queues.map(({ id, name }) => <option key={id} value={id}>{name}
                </option>)}
              </Select>
            )}
          </Field>
        )}
      {list.isError && <ErrorNotice error={list.error} retry={() => void list.refetch()} />}
      <footer>
        <Button onClick={() => close(false)}>Cancel</Button>
        <Button type="submit" kind="primary" disabled={queue === undefined}>Add</Button>
      </footer>
    </form>
  )
}

function Tag({ request, close, work: { state, start, stop } }: BodyProps) {
  const [typed, setTyped] = useState('')
  const tag = typed.trim()
  if (state.kind !== 'asking') {
    return (
      <WorkProgress state={state} noun={request.noun} did="tagged" stop={stop} close={() =>
        close(true)} />
    )
  }
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      if (tag === '') return
      void start((ids, signal) => tagRuns(request.projectId, ids, tag, signal),
        () => queries.invalidateQueries({ queryKey: ['traces'] }))
    }}>
      <p>{wordsOf(request)}. Other tags stay.</p>
      <TextField label="Tag" value={typed} change={setTyped} maxLength={tagMax} required
        autoComplete="off" />
      <footer>
        <Button onClick={() => close(false)}>Cancel</Button>
        <Button type="submit" kind="primary" disabled={tag === ''}>Add tag</Button>
      </footer>
    </form>
  )
}

function Delete({ request, close, work: { state, start, stop } }: BodyProps) {
  const [typed, setTyped] = useState('')
  const isMatching = request.target.kind === 'matching'
  if (state.kind !== 'asking') {
    return (
      <WorkProgress state={state} noun={request.noun} did="deleted" stop={stop} close={() =>
        close(true)} />
    )
  }
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      void start((ids) => deleteTraces(request.projectId, ids),
        () => queries.invalidateQueries({ queryKey: ['traces'] }))
    }}>
      <p>{wordsOf(request)} with all their spans and feedback. This cannot be undone.</p>
      {isMatching && (
        <TextField label="Type delete to confirm" value={typed} autoComplete="off"
          change={setTyped} />
      )}
      <footer>
        <Button onClick={() => close(false)}>Keep them</Button>
        <Button type="submit" kind="danger" disabled={isMatching && typed.trim() !== 'delete'}>
          Delete {request.target.kind === 'chosen' ? wordsOf(request) : 'all that match'}
        </Button>
      </footer>
    </form>
  )
}
