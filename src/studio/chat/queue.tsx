/** The runs that wait for their turn, in the order in which they come. */

import { cancelRun } from '../api/runs.ts'
import type { Run } from '../api/runs.ts'
import { Button } from '../parts/button.tsx'
import { StatusGlyph } from '../parts/status.tsx'
import { strategies } from './strategy.tsx'
import css from './queue.module.css'
import { inputWords } from './input-words.ts'

/** The queue of a thread; `runs` are newest first. */
export function Queue({ runs, refusal, changed, failed }: {
  readonly runs: readonly Run[]
  readonly refusal: string | undefined
  readonly changed: () => void
  readonly failed: (error: unknown) => void
}) {
  const waiting = runs.filter(({ status }) => status === 'pending').toReversed()
  if (waiting.length === 0) return null
  return (
    <ol className={css['queue']} aria-label="Queue">
      {waiting.map((run, place) => (
        <li key={run.run_id}>
          <StatusGlyph status="queued" size={12} />
          <b>{place + 1}</b>
          <span className={css['words']} dir="auto">{inputWords(run)}</span>
          <span className={css['strategy']}>
            {strategies[run.multitask_strategy ?? 'enqueue']}
          </span>
          <Button small kind="quiet" disabled={refusal !== undefined} title={refusal}
            onClick={() => void cancelRun(run.thread_id, run.run_id).then(changed, failed)}
          >
            Remove
          </Button>
        </li>
      ))}
    </ol>
  )
}
