/** A value that a form does not know, as JSON. */

import { useEffect, useState } from 'react'

import { JsonEditor } from '../json/json-editor.tsx'
import css from './schema-form.module.css'
import type { ControlProps } from './control-props.ts'
import { parseJson } from './values.ts'

/** The field. Text that is no JSON changes nothing, and says so. */
export function JsonControl({ form, value, change, place, label, hint }: ControlProps & {
  readonly label: string
  readonly hint: string | undefined
}) {
  const [draft, setDraft] = useState<{ readonly text: string; readonly fault?: string }>()
  const { broken } = form
  useEffect(() => () => broken(place, false), [broken, place])
  const type = (text: string) => {
    if (text.trim() === '') {
      setDraft({ text })
      broken(place, false)
      change(undefined)
      return
    }
    const parsed = parseJson(text)
    setDraft({ text, ...'fault' in parsed && { fault: parsed.fault } })
    broken(place, 'fault' in parsed)
    if ('value' in parsed) change(parsed.value)
  }
  const fault = draft?.fault ?? form.errors[place]
  return (
    <div className={css['wide']}>
      <p className={css['name']} aria-hidden="true">
        {label} <span>JSON</span>
      </p>
      <JsonEditor label={`${label}, as JSON`} change={type} fault={fault}
        text={draft?.text ?? (value === undefined ? '' : JSON.stringify(value, null, 2))} />
      {hint !== undefined && fault === undefined && <p className={css['hint']}>{hint}</p>}
    </div>
  )
}
