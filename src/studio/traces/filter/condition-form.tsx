/** The form of one condition of a filter: a field, its operator and a value. */

import { useState } from 'react'
import type { FormEvent } from 'react'

import { Button } from '../../parts/button.tsx'
import { Input, Select } from '../../parts/field.tsx'
import css from './condition-menu.module.css'
import { emptyDraft, expressionOf, hasKey, hasValue } from './condition-draft.ts'
import type { Draft } from './condition-draft.ts'
import { menuGroups, menuWords, operatorsOf } from './condition-operators.ts'
import type { Expression } from './expression.ts'
import { filterFields } from './filter-fields.ts'

/** Examples of values by the entry of the menu or by its form. */
const hints: Readonly<Record<string, string>> = { name: 'support agent', tags: 'web', text: 'text',
  id: 'id', error: 'the whole text', seconds: '2s, 500ms', number: '1000', dollars: '0.05',
  search: 'words', contains: '{"customer": "c-1"}', code: 'gt(latency, 2)', feedback_score: '0.5' }

/** Form of a condition; `save` gets it when it is whole. */
export function ConditionForm({ start, isNew, save, close }: {
  readonly start: Draft
  readonly isNew: boolean
  readonly save: (condition: Expression) => void
  readonly close: () => void
}) {
  const [draft, setDraft] = useState(start)
  const [error, setError] = useState<string>()
  const change = (more: Partial<Draft>) => {
    setDraft({ ...draft, ...more })
    setError(undefined)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const read = expressionOf(draft)
    if ('error' in read) {
      setError(read.error)
      return
    }
    save(read.value)
    if (isNew) setDraft({ ...draft, value: '', isNegated: false })
  }
  const { field, operator } = draft
  const operators = Object.entries(operatorsOf(field))
  return (
    <form className={css['form']} onSubmit={submit}
      aria-label={isNew ? 'New condition' : 'Condition'} onKeyDown={(event) => {
      if (event.key === 'Escape') close()
    }}>
      <Select aria-label="Field" value={field} onChange={({ target: { value } }) =>
        change({ ...emptyDraft(value), isNegated: draft.isNegated })}
      >
        {menuGroups.map(({ words, fields }) => (
          <optgroup key={words} label={words}>
            {fields.map((each) => <option key={each} value={each}>{menuWords(each)}</option>)}
          </optgroup>
        ))}
      </Select>
      {hasKey(draft) && (
        <Input aria-label="Key" placeholder="any key" value={draft.key} dir="auto"
          className={css['key'] ?? ''} onChange={({ target }) => change({ key: target.value })} />
      )}
      {operators.length > 0 && (
        <Select aria-label="Operator" value={operator} onChange={({ target: { value } }) =>
          change({ operator: value })}
        >
          {operators.map(([name, words]) => <option key={name} value={name}>{words}</option>)}
        </Select>
      )}
      {hasValue(draft) && <ValueControl draft={draft} error={error} change={change} />}
      {field !== 'code' && (
        <label className={css['not']}>
          <input type="checkbox" checked={draft.isNegated} onChange={({ target }) =>
            change({ isNegated: target.checked })} />
          Not
        </label>
      )}
      <Button type="submit" kind="primary">{isNew ? 'Add' : 'Save'}</Button>
      <Button kind="quiet" onClick={close}>Close</Button>
      {error !== undefined && <p id="condition-wrong" role="alert">{error}</p>}
    </form>
  )
}

function ValueControl({ draft: { field, operator, value }, error, change }: {
  readonly draft: Draft
  readonly error: string | undefined
  readonly change: (more: Partial<Draft>) => void
}) {
  const { form = 'text', values } = filterFields[field] ?? {}
  if (values !== undefined && operator !== 'in') {
    return (
      <Select aria-label="Value" value={value} onChange={({ target }) =>
        change({ value: target.value })}
      >
        {value === '' && <option value="">Choose …</option>}
        {values.map((each) => <option key={each} value={each}>{each}</option>)}
        {value !== '' && !values.includes(value) && <option value={value}>{value}</option>}
      </Select>
    )
  }
  const hint = operator === 'in'
    ? values?.slice(0, 2).join(', ') ?? 'first, second'
    : hints[field] ?? hints[form]
  return (
    <Input aria-label="Value" type={form === 'time' ? 'datetime-local' : 'text'} placeholder={hint}
      value={value} dir="auto" spellCheck={false} autoComplete="off"
      aria-invalid={error !== undefined} className={css['value'] ?? ''}
      aria-describedby={error === undefined ? undefined : 'condition-wrong'}
      onChange={({ target }) => change({ value: target.value })} />
  )
}
