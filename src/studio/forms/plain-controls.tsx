/** Controls of numbers and texts. What is typed is kept as typed until it is a value. */

import { useEffect, useState } from 'react'

import { Input } from '../parts/field.tsx'
import css from './schema-form.module.css'
import type { TextFormat } from './schema-fields.ts'

/** Attributes that join a control to its label. */
type Ids = Readonly<
  { id: string; className: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }
>

interface PlainProps {
  readonly ids: Ids
  readonly value: unknown
  readonly change: (value: unknown) => void
  /** Value of an empty text: null, or undefined for a property that is left out. */
  readonly empty: null | undefined
}

/** A number. Half a number, such as "-", is no value yet. */
export function NumberControl({ ids, value, change, place, empty, broken }: PlainProps & {
  readonly place: string
  readonly broken: (place: string, isBroken: boolean) => void
}) {
  const [draft, setDraft] = useState<string>()
  const isBroken = draft !== undefined
  useEffect(() => () => broken(place, false), [broken, place])
  const type = (text: string) => {
    const number = Number(text)
    const isNumber = text.trim() !== '' && Number.isFinite(number)
    const isValue = isNumber || text.trim() === ''
    setDraft(isValue && (text.trim() === '' || String(number) === text) ? undefined : text)
    broken(place, !isValue)
    if (isValue) change(isNumber ? number : empty)
  }
  return (
    <Input {...ids} inputMode="decimal" autoComplete="off"
      aria-invalid={ids['aria-invalid'] || (isBroken && !Number.isFinite(Number(draft)))}
      value={draft ?? (typeof value === 'number' ? String(value) : '')}
      onChange={({ target }) => type(target.value)} />
  )
}

const longMax = 20_000

/** A text: one line, or as many as it has. */
export function TextControl(
  { ids, value, change, empty, required, format, grows, placeholder }: PlainProps & {
    readonly required: boolean
    readonly format: TextFormat
    readonly grows: boolean
    readonly placeholder: string | undefined
  },
) {
  const text = typeof value === 'string' ? value : ''
  const props = { ...ids, value: text, dir: 'auto', placeholder, 'aria-required': required,
    onChange: ({ target }: { target: { value: string } }) =>
      // A text that must be there may be empty; one that need not is left out.
      change(target.value === '' && !(required && value !== undefined && value !== null)
        ? empty
        : target.value) }
  if (!grows) return <input {...props} type={format} autoComplete="off" />
  return (
    <textarea {...props} rows={1} spellCheck={text.length < longMax}
      className={`${ids.className} ${css['growing']}`} />
  )
}
