/** The decisions about acts: approve, change, reject, or answer in their place. */

import { useState } from 'react'

import { SchemaForm } from '../forms/schema-form.tsx'
import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { Field } from '../parts/field.tsx'
import { useKeys } from '../parts/keys.ts'
import { Phrase } from '../parts/markdown.tsx'
import { faultsOf } from '../forms/values.ts'
import { useDraft } from './drafts.ts'
import css from './interrupts.module.css'
import type { AnswerProps } from './answer-props.ts'
import type { Act, Decision, Question } from './question.ts'

/** Asks for a decision about each act. The last decision sends all of them. */
export function ReviewAnswer({ acts, answer, give, draftKey, hasKeys, refusal }:
  & AnswerProps
  & Extract<Question, { kind: 'review' }>) {
  const [decisions, setDecisions] = useState<readonly (Decision | undefined)[]>(() =>
    acts.map(() => undefined)
  )
  const next = decisions.indexOf(undefined)
  const decide = (at: number, decision: Decision | undefined) => {
    const all = decisions.with(at, decision)
    if (all.every((each) => each !== undefined)) give(answer(all), true)
    else setDecisions(all)
  }
  return acts.map((act, i) => {
    const decided = decisions[i]
    return (
      // Acts have no other name than their place.
      // oxlint-disable-next-line no-array-index-key
      <section key={i} className={css['act']} aria-label={acts.length > 1 ? act.name : undefined}>
        {acts.length > 1 && (
          <p className={css['actName']} dir="auto">
            <code>{act.name}</code> {act.words !== undefined && <Phrase text={act.words} />}
          </p>
        )}
        {decided === undefined
          ? (
            <ActDecision act={act} draftKey={`${draftKey} ${i}`}
              hasKeys={hasKeys && i === next && refusal === undefined}
              decide={(decision) => decide(i, decision)} />
          )
          : (
            <div className={css['foot']}>
              <Chip tone={decided.kind === 'reject' ? 'failed' : 'done'}>
                {decisionWords[decided.kind]}
              </Chip>
              <Button kind="quiet" small onClick={() => decide(i, undefined)}>Change</Button>
            </div>
          )}
      </section>
    )
  })
}

const decisionWords = { approve: 'Approved', edit: 'Approved with changes', reject: 'Rejected',
  respond: 'Answered' } as const

interface ActDecisionProps {
  readonly act: Act
  readonly draftKey: string
  readonly hasKeys: boolean
  readonly decide: (decision: Decision) => void
}

function ActDecision({ act, draftKey, hasKeys, decide }: ActDecisionProps) {
  const [args, setArgs] = useDraft<unknown>(`${draftKey} args`, act.args)
  const [wording, setWording] = useDraft<'reject' | 'respond' | null>(`${draftKey} wording`, null)
  const [broken, setBroken] = useState<readonly string[]>([])
  const [tried, setTried] = useState(false)
  const may = (kind: Decision['kind']) => act.allowed.includes(kind)
  const isChanged = args !== act.args && JSON.stringify(args) !== JSON.stringify(act.args)
  const faults = isChanged ? faultsOf(act.schema, args) : {}
  const approve = () => {
    setTried(true)
    if (broken.length > 0 || Object.keys(faults).length > 0) return
    decide(isChanged ? { kind: 'edit', args } : { kind: 'approve' })
  }
  const mayApprove = may(isChanged ? 'edit' : 'approve')
  useKeys('Question', hasKeys && mayApprove && wording === null
    ? { 'mod+enter': { words: isChanged ? 'Approve with changes' : 'Approve', act: approve } }
    : {})
  if (wording !== null) {
    return (
      <Wording kind={wording} draftKey={draftKey} decide={decide} close={() => setWording(null)} />
    )
  }
  return (
    <>
      {hasArgs(act.args) && (
        <fieldset className={css['answer']} disabled={!may('edit')}>
          <legend className="unseen">Arguments of {act.name}</legend>
          <SchemaForm schema={act.schema} value={args} change={setArgs} broken={setBroken}
            errors={tried ? faults : {}} label="Arguments" />
        </fieldset>
      )}
      <div className={css['acts']}>
        {(may('approve') || may('edit')) && (
          <Button kind="primary" disabled={!mayApprove} onClick={approve}
            title={mayApprove ? undefined : 'Change something first: it may only be edited.'}
          >
            {isChanged ? 'Approve with changes' : 'Approve'}
          </Button>
        )}
        {may('reject') && <Button onClick={() => setWording('reject')}>Reject …</Button>}
        {may('respond') && <Button onClick={() => setWording('respond')}>Answer instead …</Button>}
        {isChanged && <Button kind="quiet" onClick={() => setArgs(act.args)}>Undo changes</Button>}
        {act.allowed.length === 0 && <p>Nothing may be decided about this act.</p>}
      </div>
    </>
  )
}

const hasArgs = (args: unknown) =>
  !(args === null || args === undefined || (typeof args === 'object' && Object.keys(args)
        .length === 0))

function Wording({ kind, draftKey, decide, close }: {
  readonly kind: 'reject' | 'respond'
  readonly draftKey: string
  readonly decide: (decision: Decision) => void
  readonly close: () => void
}) {
  const [words, setWords] = useDraft(`${draftKey} words`, '')
  const isReject = kind === 'reject'
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      decide({ kind, words: words.trim() })
    }}>
      <Field label={isReject ? 'Why?' : 'What should the graph be told instead?'}
        hint={isReject ? 'The graph is told. It may be left empty.' : undefined}
      >
        {(ids) => (
          // The person has just asked for this field.
          <textarea {...ids} rows={3} dir="auto" autoFocus value={words}
            onChange={({ target }) => setWords(target.value)} onKeyDown={(event) => {
            if (event.key === 'Escape') close()
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
              event.currentTarget.form?.requestSubmit()
            }
          }} />
        )}
      </Field>
      <div className={css['acts']}>
        <Button type="submit" kind={isReject ? 'danger' : 'primary'}
          disabled={!isReject && words.trim() === ''}
        >
          {isReject ? 'Reject' : 'Send the answer'}
        </Button>
        <Button kind="quiet" onClick={close}>Back</Button>
      </div>
    </form>
  )
}
