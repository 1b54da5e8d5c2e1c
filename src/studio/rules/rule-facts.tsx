/** Numbers of a rule so far. */

import type { RuleState } from '../../api/index.ts'
import { count, counted } from '../parts/amounts.ts'
import { Notice } from '../parts/notice.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import css from './rules.module.css'

/** Numbers of a rule: runs that it looked at, applied to and failed on, and its costs. */
export function RuleFacts({ state }: { readonly state: RuleState }) {
  const { looked_at: looked, applied, failed, spent, last_applied_at: last, backfill,
    last_error: error } = state
  return (
    <>
      <dl className={css['facts']}>
        <Fact word="Looked at">{counted(looked, 'run')}</Fact>
        <Fact word="Applied">{count(applied)}</Fact>
        <Fact word="Failed">{count(failed)}</Fact>
        <Fact word="Evaluated today">
          {counted(spent.calls, 'call')}
          {spent.tokens > 0 && `, ${counted(spent.tokens, 'token')}`}
        </Fact>
        <Fact word="Last">{last === null ? 'never' : <TimeText iso={last} />}</Fact>
      </dl>
      {backfill !== null && (
        <Notice>
          Goes over the past: {counted(backfill.looked_at, 'run')} so far.
        </Notice>
      )}
      {error !== null && failed > 0 && (
        <p className={css['lastError']} dir="auto">
          <b>Last failure</b> {error.message}
        </p>
      )}
    </>
  )
}

function Fact({ word, children }: {
  readonly word: string
  readonly children: React.ReactNode
}) {
  return (
    <div>
      <dt>{word}</dt>
      <dd>{children}</dd>
    </div>
  )
}
