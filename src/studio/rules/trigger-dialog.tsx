/** Sends a rule over runs of the past, after saying how many these are. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import type { Rule } from '../../api/index.ts'
import { countRuns, triggerRule } from './rule-calls.ts'
import { nowMs } from '../env.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { samplingWords } from './rule-draft.ts'
import css from './rules.module.css'

const hourMs = 3_600_000
const times: readonly (readonly [number, string])[] = [[hourMs, 'the last hour'], [24 * hourMs,
  'the last day'], [168 * hourMs, 'the last week'], [720 * hourMs, 'the last 30 days']]

/** Dialog that applies a rule to runs of the past. */
export function TriggerDialog({ rule, close }: {
  readonly rule: Rule
  readonly close: () => void
}) {
  const [ms, setMs] = useState(24 * hourMs)
  const cache = useQueryClient()
  const found = useMutation({
    mutationFn: (ago: number) => countRuns(rule.session_id!, rule.filter ?? '', nowMs() - ago),
  })
  const start = useMutation({
    mutationFn: () => triggerRule(rule.id, nowMs() - ms),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: ['rules', rule.id] })
      close()
    },
  })
  const isCounted = found.data !== undefined && found.variables === ms
  return (
    <Dialog open title="Go over the past" close={close}>
      <div className={css['form']}>
        <Field label="Runs that began in"
          hint={samplingWords(Math.round(rule.sampling_rate * 100))}
        >
          {(ids) => (
            <select {...ids} value={ms} onChange={({ target }) => setMs(Number(target.value))}>
              {times.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
            </select>
          )}
        </Field>
        {rule.session_id !== null && (
          <div className={css['count']}>
            <Button small disabled={found.isPending} onClick={() => found.mutate(ms)}>
              Count them
            </Button>
            <span role="status">{isCounted && `${counted(found.data, 'run')}`}</span>
          </div>
        )}
        <p className={css['hint']}>
          Runs that the rule has acted on are acted on again: feedback, examples and places in
          queues stay one each, and webhooks get the same key.
        </p>
        {found.error !== null && <ErrorNotice error={found.error} />}
        {start.error !== null && <ErrorNotice error={start.error} />}
        <div className={css['end']}>
          <Button kind="primary" disabled={start.isPending} onClick={() => start.mutate()}>
            Begin
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
