/** An answer whose JSON Schema the graph gave. */

import { useState } from 'react'

import { faultsOf } from '../forms/values.ts'
import { Button } from '../parts/button.tsx'
import { SchemaForm } from '../forms/schema-form.tsx'
import { useDraft } from './drafts.ts'
import css from './interrupts.module.css'
import type { AnswerProps } from './answer-props.ts'
import type { Question } from './question.ts'

/** A form with one button. */
export function FormAnswer({ schema, initial, draftKey, give }:
  & AnswerProps
  & Extract<Question, { kind: 'form' }>) {
  const [value, setValue] = useDraft<unknown>(`${draftKey} form`, initial)
  const [broken, setBroken] = useState<readonly string[]>([])
  const [tried, setTried] = useState(false)
  const faults = faultsOf(schema, value)
  return (
    <form className={css['form']} noValidate onSubmit={(event) => {
      event.preventDefault()
      setTried(true)
      if (broken.length === 0 && Object.keys(faults).length === 0 && value !== undefined) {
        give(value)
      }
    }}>
      <SchemaForm schema={schema} value={value} change={setValue} broken={setBroken}
        errors={tried ? { ...value === undefined && { '': 'is required' }, ...faults } : {}} />
      <div className={css['acts']}>
        <Button type="submit" kind="primary">Answer</Button>
      </div>
    </form>
  )
}
