/** The answer to whether an effect was done: a button for each, and the result that it had. */

import { useState } from 'react'

import { Button } from '../parts/button.tsx'
import { TextArea } from '../parts/field.tsx'
import { JsonEditor } from '../json/json-editor.tsx'
import type { AnswerProps } from './answer-props.ts'
import { ChoiceAnswer } from './choice-answer.tsx'
import { useDraft } from './drafts.ts'
import { resultIn } from './effect-result.ts'
import css from './interrupts.module.css'
import type { Question } from './question.ts'

/** Buttons with the decisions; one that was done may have a result. */
export function EffectAnswer({ choices, isCall, draftKey, give }:
  & AnswerProps
  & Extract<Question, { kind: 'effect' }>) {
  const [hasResult, setHasResult] = useDraft(`${draftKey} has result`, false)
  if (hasResult) {
    return (
      <ResultForm draftKey={draftKey} isCall={isCall} give={give} close={() =>
        setHasResult(false)} />
    )
  }
  return (
    <ChoiceAnswer choices={choices} give={give} canUndo>
      <Button kind="quiet" onClick={() => setHasResult(true)}>It was done, with a result …</Button>
    </ChoiceAnswer>
  )
}

const label = 'Its result'

function ResultForm({ draftKey, isCall, give, close }: Pick<AnswerProps, 'draftKey' | 'give'> & {
  readonly isCall: boolean
  readonly close: () => void
}) {
  const [text, setText] = useDraft(`${draftKey} result`, '')
  // A text that looks like JSON would be a text to the node.
  const [isJson, setIsJson] = useDraft(`${draftKey} result is JSON`, true)
  const [tried, setTried] = useState(false)
  const result = resultIn({ text, isJson, isCall })
  const fault = tried && 'fault' in result ? result.fault : undefined
  return (
    <form className={css['form']} noValidate onSubmit={(event) => {
      event.preventDefault()
      setTried(true)
      if ('value' in result) give({ decision: 'done', result: result.value }, true)
    }}>
      {isJson
        ? <JsonEditor label={`${label}, as JSON`} text={text} change={setText} fault={fault} />
        : (
          <TextArea label={`${label}, as text`} rows={3} value={text} change={setText}
            error={fault} />
        )}
      <p className={css['refusal']}>
        {isCall
          ? 'The call is answered with it, and with status 200.'
          : 'The node gets it, as what the effect returned.'}
      </p>
      <div className={css['acts']}>
        <Button type="submit" kind="primary">It was done</Button>
        <Button kind="quiet" onClick={() => setIsJson(!isJson)}>
          {isJson ? 'Give a text' : 'Give JSON'}
        </Button>
        <Button kind="quiet" onClick={close}>Back</Button>
      </div>
    </form>
  )
}
