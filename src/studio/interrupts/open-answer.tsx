/** An answer of which nothing is known: a text, or JSON. */

import { parseJson } from '../forms/values.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { JsonEditor } from '../json/json-editor.tsx'
import { useDraft } from './drafts.ts'
import css from './interrupts.module.css'
import type { AnswerProps } from './answer-props.ts'

/** A text field, with JSON as the other way. */
export function OpenAnswer({ draftKey, give }: AnswerProps) {
  const [text, setText] = useDraft(`${draftKey} text`, '')
  const [isJson, setIsJson] = useDraft(`${draftKey} json`, false)
  const parsed = parseJson(text)
  const fault = isJson && text.trim() !== '' && 'fault' in parsed ? parsed.fault : undefined
  const isReady = isJson ? 'value' in parsed : text.trim() !== ''
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      if (!isReady) return
      give(isJson && 'value' in parsed ? parsed.value : text)
    }}>
      {isJson
        ? <JsonEditor label="Answer, as JSON" text={text} change={setText} fault={fault} />
        : (
          <Field label="Answer">
            {(ids) => (
              <textarea {...ids} rows={2} dir="auto" value={text}
                onChange={({ target }) => setText(target.value)} onKeyDown={(event) => {
                if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
                event.currentTarget.form?.requestSubmit()
              }} />
            )}
          </Field>
        )}
      <div className={css['acts']}>
        <Button type="submit" kind="primary" disabled={!isReady}>Answer</Button>
        <Button kind="quiet" onClick={() => setIsJson(!isJson)}>
          {isJson ? 'Answer with text' : 'Answer with JSON'}
        </Button>
      </div>
    </form>
  )
}
