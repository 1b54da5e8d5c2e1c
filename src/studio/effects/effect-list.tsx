/** The effects of a run: what it did outside, and what is known of that. */

import { useQuery } from '@tanstack/react-query'

import { effectsOf, namesDoneOutside } from './effect-calls.ts'
import type { Effect } from './effect-calls.ts'
import { isOver } from '../api/runs.ts'
import type { Run } from '../api/runs.ts'
import { Chip } from '../parts/chip.tsx'
import type { ChipTone } from '../parts/chip.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { clockWords } from '../parts/times/moment.ts'
import css from './effects.module.css'

/** Effects of a run that goes on are read again so often, while somebody looks. */
const againMs = 2_000

/** Effects of a run, read again until it is over. */
export function useEffects(threadId: string, run: Run) {
  return useQuery({
    queryKey: ['threads', threadId, 'runs', run.run_id, 'effects', run.status],
    queryFn: ({ signal }) => effectsOf(threadId, run.run_id, signal),
    refetchInterval: isOver(run) ? false : againMs,
  })
}

const toneOf: Readonly<Record<Effect['status'], ChipTone>> = { done: 'done', unknown: 'waiting',
  failed: 'failed' }
const wordOf: Readonly<Record<Effect['status'], string>> = { done: 'done', unknown: 'not known yet',
  failed: 'failed' }
const decisionOf: Readonly<Record<string, string>> = { done: 'A person said that it was done.',
  do: 'A person ordered it once more.', fail: 'A person let it fail.',
  unclear: 'A person answered unclearly.' }

/** List of the effects of a run. */
export function EffectList({ threadId, run }: { readonly threadId: string; readonly run: Run }) {
  const { data, error, refetch } = useEffects(threadId, run)
  if (error !== null) return <ErrorNotice error={error} retry={() => void refetch()} />
  if (data === undefined) return <p className={css['meta']}>The effects are being read.</p>
  if (data.length === 0) {
    return (
      <Empty title="No effects">
        <p>Calls and other work that langgraph.json lets happen once stand here.</p>
      </Empty>
    )
  }
  return (
    <ul className={css['list']} aria-label="Effects of the run">
      {data.map((effect) => (
        <Line key={`${effect.task_id} ${effect.name} ${effect.ordinal}`} effect={effect} />
      ))}
    </ul>
  )
}

function Line({ effect }: { readonly effect: Effect }) {
  const { name, strength, status, key, begun_at: begun, settled_at: settled, decision } = effect
  const times = [begun && `begun ${timeOf(begun)}`, settled && `settled ${timeOf(settled)}`]
  return (
    <li>
      <div className={css['line']}>
        <b dir="auto">{name}</b>
        <Chip tone={toneOf[status]}>{wordOf[status]}</Chip>
        <Chip>{strength === 'once' ? 'once' : 'kept answer'}</Chip>
        <span className={css['meta']}>{times.filter(Boolean).join(' · ')}</span>
      </div>
      {key !== null && (
        <div className={css['line']}>
          <code title="Its Idempotency-Key">{key}</code>
          <CopyButton text={key} label={`Copy the key of ${name}`} />
        </div>
      )}
      {decision !== null && <p className={css['meta']}>{decisionOf[decision]}</p>}
    </li>
  )
}

/** Sentence about what stays done if the run is undone; nothing if it has done nothing. */
export function StayingEffects({ threadId, run }: {
  readonly threadId: string
  readonly run: Run
}) {
  const { data = [] } = useEffects(threadId, run)
  const names = namesDoneOutside(data)
  if (names.length === 0) return null
  return (
    <p className={css['stays']}>
      {`Undo takes back the steps. What was done outside stays: ${names.join(', ')}.`}
    </p>
  )
}

const timeOf = (time: string) => clockWords(Date.parse(time), 1)
