/** The field of one value of a schema: a label, a control by its kind, and what is wrong. */

import { useId } from 'react'
import type { ReactNode } from 'react'

import type { Json, JsonObject } from '../api/client.ts'
import { size } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import type { ControlProps } from './control-props.ts'
import { JsonControl } from './json-control.tsx'
import { NumberControl, TextControl } from './plain-controls.tsx'
import css from './schema-form.module.css'
import { fieldOf, fits, initialValue, wordsOf } from './schema-fields.ts'
import type { Field as Kind, SchemaField } from './schema-fields.ts'
import { placeOf, property, weight, withProperty } from './values.ts'

/** Heavier values, in characters, are shown and kept, not edited in a form. */
const heavyMax = 200_000
/** Longer lists are edited as JSON. */
const entriesMax = 100

/** A field of any kind. */
export function SchemaControl(props: ControlProps) {
  const { form, schema, value, name } = props
  const known = fieldOf(schema, form.root)
  const label = known.title ?? wordsOf(name)
  const heavy = weight(value, heavyMax)
  if (heavy > heavyMax) return <Heavy label={label} value={value} />
  const { field } = known
  if (!fits(known, value) || field.kind === 'json') {
    return <JsonControl {...props} label={label} hint={known.hint} />
  }
  if (field.kind === 'object') return <ObjectControl {...props} {...known} label={label} />
  if (field.kind === 'list') {
    return Array.isArray(value) && value.length > entriesMax
      ? <JsonControl {...props} label={label} hint={known.hint} />
      : <ListControl {...props} {...known} label={label} />
  }
  return <PlainControl {...props} {...known} field={field} label={label} />
}

type Labelled = ControlProps & SchemaField & { readonly label: string }

function PlainControl(
  { form, value, change, place, required = false, label, hint, field, isNullable, initial }: Omit<
    Labelled,
    'field'
  > & { readonly field: Kind },
) {
  const error = form.errors[place]
  if (field.kind === 'boolean') {
    return <Tick {...{ label, hint, error, value, change }} />
  }
  const empty = isNullable ? null : undefined
  return (
    <Field label={label} required={required} error={error}
      hint={hint ?? (field.kind === 'number' ? rangeWords(field) : undefined)}
    >
      {(ids) => {
        switch (field.kind) {
          case 'choice':
            return (
              <select {...ids} value={choiceText(value)} required={required}
                onChange={({ target }) =>
                  change(target.value === '' ? empty : JSON.parse(target.value) as Json)}
              >
                {(!required || value === undefined || value === null) && (
                  <option value="">{required ? 'Choose' : '—'}</option>
                )}
                {field.options.filter((each) => each !== null).map((each) => (
                  <option key={JSON.stringify(each)} value={JSON.stringify(each)}>
                    {String(each)}
                  </option>
                ))}
              </select>
            )
          case 'number':
            return <NumberControl {...{ ids, value, change, place, empty }} broken={form.broken} />
          case 'text':
            return (
              <TextControl {...{ ids, value, change, required }} empty={empty} format={field.format}
                grows={field.grows}
                placeholder={typeof initial === 'string' ? initial : undefined} />
            )
          default:
            return null
        }
      }}
    </Field>
  )
}

const choiceText = (value: unknown) =>
  value === undefined || value === null ? '' : JSON.stringify(value)

function rangeWords({ min, max }: { readonly min?: number; readonly max?: number }) {
  if (min !== undefined && max !== undefined) return `From ${min} to ${max}.`
  if (min !== undefined && min !== 0) return `${min} or more.`
  return max === undefined ? undefined : `${max} or less.`
}

function Tick({ label, hint, error, value, change }: {
  readonly label: string
  readonly hint: string | undefined
  readonly error: string | undefined
  readonly value: unknown
  readonly change: (value: unknown) => void
}) {
  const id = useId()
  const words = error ?? hint
  return (
    <div className={css['tick']}>
      <label>
        <input type="checkbox" checked={value === true} aria-invalid={error !== undefined}
          aria-describedby={words === undefined ? undefined : id}
          onChange={({ target }) => change(target.checked)} />
        {label}
      </label>
      {words !== undefined && (
        <p id={id} className={error === undefined ? css['hint'] : css['error']}>{words}</p>
      )}
    </div>
  )
}

function ObjectControl(
  { form, schema, value, change, place, required, isRoot, label, hint, field, isNullable }:
    Labelled,
) {
  if (field.kind !== 'object') return null
  const isThere = value !== undefined && value !== null
  if (!isThere && !isRoot) {
    return (
      <Group label={label} hint={hint} error={form.errors[place]} required={required}>
        <Button small icon={<Icon name="plus" size={12} />} onClick={() =>
          change(initialValue(schema, form.root) ?? {})}
        >
          Add {label.toLowerCase()}
        </Button>
      </Group>
    )
  }
  const fields = (
    <div className={css['grid']}>
      {field.parts.map((part) => (
        <SchemaControl key={part.name} form={form} schema={part.schema} name={part.name}
          required={part.required} place={placeOf(place, part.name)}
          value={property(value, part.name)}
          change={(next) => change(withProperty(value, part.name, next))} />
      ))}
    </div>
  )
  if (isRoot) return fields
  return (
    <Group label={label} hint={hint} error={form.errors[place]} required={required}
      acts={!required && (
        <Button kind="quiet" small label={`Remove ${label.toLowerCase()}`}
          icon={<Icon name="close" size={12} />} onClick={() =>
          change(isNullable ? null : undefined)} />
      )}
    >
      {fields}
    </Group>
  )
}

function ListControl({ form, value, change, place, required, label, hint, field }: Labelled) {
  if (field.kind !== 'list') return null
  const entries = Array.isArray(value) ? value as unknown[] : []
  return (
    <Group label={label} hint={hint} error={form.errors[place]} required={required}>
      {entries.length > 0 && (
        <ol className={css['entries']}>
          {entries.map((entry, i) => (
            // Entries have no other name than their place.
            // oxlint-disable-next-line no-array-index-key
            <li key={i}>
              <SchemaControl form={form} schema={field.item} value={entry} place={placeOf(place, i)}
                name={`${label} ${i + 1}`} change={(next) =>
                change(entries.with(i, next ?? null))} />
              <Button kind="quiet" small icon={<Icon name="close" size={12} />}
                label={`Remove entry ${i + 1} of ${label.toLowerCase()}`} onClick={() =>
                change(entries.toSpliced(i, 1))} />
            </li>
          ))}
        </ol>
      )}
      <Button small icon={<Icon name="plus" size={12} />} label={`Add an entry: ${label}`}
        onClick={() => change([...entries, firstOf(field.item, form.root)])}
      >
        Add an entry
      </Button>
    </Group>
  )
}

/** First value of a new entry: never undefined, which a list cannot hold. */
function firstOf(schema: JsonObject, root: JsonObject): Json {
  const { field } = fieldOf(schema, root)
  const first = initialValue(schema, root)
  if (first !== undefined) return first
  switch (field.kind) {
    case 'text':
      return ''
    case 'number':
      return field.min ?? 0
    case 'boolean':
      return false
    case 'choice':
      return field.options[0] ?? null
    case 'list':
      return []
    default:
      return null
  }
}

function Group({ label, hint, error, required = false, acts, children }: {
  readonly label: string
  readonly hint: string | undefined
  readonly error: string | undefined
  readonly required?: boolean | undefined
  readonly acts?: ReactNode
  readonly children: ReactNode
}) {
  return (
    <fieldset className={css['group']}>
      <legend>
        {label}
        {required && <span className={css['required']} aria-hidden="true">*</span>}
        {acts}
      </legend>
      {hint !== undefined && <p className={css['hint']}>{hint}</p>}
      {children}
      {error !== undefined && <p className={css['error']}>{error}</p>}
    </fieldset>
  )
}

function Heavy({ label, value }: { readonly label: string; readonly value: unknown }) {
  const id = useId()
  return (
    <section className={css['wide']} aria-labelledby={id}>
      <p id={id} className={css['name']}>{label}</p>
      <p className={css['hint']}>
        More than {size(heavyMax)}: too much for a form. It is kept as it is.
      </p>
      <JsonTree value={value} name={label} height={8} open={0} />
    </section>
  )
}
