/** One run: what may be done with it, why it failed, what it was given, what it logged. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { useRefusal } from '../../api/refusal.ts'
import { lastStepOf } from '../../api/run-details.ts'
import { cancelRun, createRun, deleteRun, isOver } from '../../api/runs.ts'
import type { Run } from '../../api/runs.ts'
import { EffectList, StayingEffects } from '../../effects/effect-list.tsx'
import { duration } from '../../parts/amounts.ts'
import { Button, buttonClass } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { failuresOf } from '../../failures/failure.ts'
import { FailureCard } from '../../failures/failure-card.tsx'
import { JsonTree } from '../../json/json-tree.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import { runStatusOf, StatusChip } from '../../parts/status.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { RunInCopyButton } from './copy-dialog.tsx'
import { RunCalls } from './run-calls.tsx'
import { RunLog } from './run-log.tsx'
import { repetitionOf, strategyOf } from './run-words.ts'
import { TraceLink } from '../../parts/trace-link.tsx'
import css from './runs.module.css'

/** A run of a thread. */
export interface RunDetailProps {
  readonly threadId: string
  readonly run: Run
  /** Changes when a run began or ended. */
  readonly version: string
  readonly close: () => void
  /** The list is to be read again. */
  readonly changed: () => void
}

/** A run in full: its state, its input, its log, its calls and its errors. */
export function RunDetail({ threadId, run, version, close, changed }: RunDetailProps) {
  const [tab, setTab] = useState<'input' | 'log' | 'calls' | 'effects'>('input')
  const last = useQuery({ queryKey: ['threads', threadId, 'runs', run.run_id, 'last', version],
    queryFn: ({ signal }) => lastStepOf(threadId, run.run_id, signal) })
  const took = Date.parse(run.updated_at) - Date.parse(run.created_at)
  return (
    <section className={css['detail']} aria-label="Chosen run">
      <header className={css['head']}>
        <StatusChip status={runStatusOf(run.status)} />
        <code title={run.run_id}>{run.run_id.slice(-12)}</code>
        <CopyButton text={run.run_id} label="Copy the id of the run" />
        {(last.data?.attempt ?? 1) > 1 && (
          <Chip tone="waiting">{`attempt ${last.data!.attempt}`}</Chip>
        )}
        <span className={css['meta']}>
          {[strategyOf(run), isOver(run) ? duration(took) : ''].filter(Boolean).join(' · ')}
        </span>
        <Button small kind="quiet" label="Close the run" icon={<Icon name="close" size={14} />}
          onClick={close} />
      </header>
      <RunActs {...{ threadId, run, changed, close }} />
      {failuresOf(last.data ?? {}).map((failure) => (
        <div key={failure.node} className={css['failure']}>
          <FailureCard failure={failure} />
        </div>
      ))}
      <div className={css['tabs']}>
        <Tabs name="run" label="Of the run" chosen={tab} choose={setTab} tabs={[
          { id: 'input', label: 'Input and settings' },
          { id: 'log', label: 'Log' },
          { id: 'calls', label: 'Calls' },
          { id: 'effects', label: 'Effects' },
        ]} />
      </div>
      <div id="run-panel" role="tabpanel" aria-labelledby={`run-${tab}`} className={css['panel']}>
        {tab === 'log' && <RunLog threadId={threadId} run={run} />}
        {tab === 'calls' && <RunCalls threadId={threadId} run={run} />}
        {tab === 'effects' && <EffectList threadId={threadId} run={run} />}
        {tab === 'input' && <JsonTree value={run.kwargs ?? {}} name="kwargs" open={2} fill />}
      </div>
    </section>
  )
}

function RunActs({ threadId, run, changed, close }: Omit<RunDetailProps, 'version'>) {
  const refusal = useRefusal()
  const navigate = useNavigate()
  const act = useMutation({ mutationFn: async (what: () => Promise<unknown>) => what(),
    onSuccess: changed })
  const again = useMutation({
    mutationFn: () => createRun(threadId, { ...repetitionOf(run), multitask_strategy: 'enqueue' }),
    onSuccess: ({ run_id: id }) => {
      changed()
      void navigate({ to: '.', search: (old) => ({ ...old, run: id }) })
    },
  })
  const locked = { disabled: refusal !== undefined || act.isPending || again.isPending,
    title: refusal }
  const toChat = () =>
    void navigate({ to: '.',
      search: (old) => ({ ...old, at: undefined, vs: undefined, view: 'chat' as const }) })
  const remove = () =>
    act.mutate(async () => {
      await deleteRun(threadId, run.run_id)
      close()
    })
  const failed = act.error ?? again.error
  return (
    <>
      <div className={css['acts']}>
        {isOver(run)
          ? (
            <>
              <Button small icon={<Icon name="play" size={14} />} {...locked}
                onClick={() => again.mutate()}
              >
                Run again
              </Button>
              <RunInCopyButton threadId={threadId} run={run} locked={locked} />
              <DeleteButton locked={locked} remove={remove} />
            </>
          )
          : (
            <>
              <Button small onClick={toChat}>Join</Button>
              <Button small icon={<Icon name="stop" size={14} />} {...locked}
                onClick={() => act.mutate(() => cancelRun(threadId, run.run_id, 'interrupt'))}
              >
                Stop, keep its steps
              </Button>
              <Button small kind="danger" {...locked}
                onClick={() => act.mutate(() => cancelRun(threadId, run.run_id, 'rollback'))}
              >
                Undo
              </Button>
            </>
          )}
        <TraceLink runId={run.run_id} className={buttonClass('quiet', true)} />
      </div>
      {!isOver(run) && <StayingEffects threadId={threadId} run={run} />}
      {failed !== null && (
        <div className={css['failure']}>
          <ErrorNotice error={failed} />
        </div>
      )}
    </>
  )
}

/** Deleting asks once more, in the same place. */
function DeleteButton({ locked, remove }: {
  readonly locked: { readonly disabled: boolean; readonly title: string | undefined }
  readonly remove: () => void
}) {
  const [asked, setAsked] = useState(false)
  if (!asked) {
    return <Button small kind="quiet" {...locked} onClick={() => setAsked(true)}>Delete …</Button>
  }
  return (
    <>
      <Button small kind="danger" {...locked} onClick={remove}>Delete this run</Button>
      <Button small kind="quiet" onClick={() => setAsked(false)}>Keep it</Button>
    </>
  )
}
