/** The fields for what a dataset is called and what is said of it. */

import { Field } from '../parts/field.tsx'

/** A text, and how it is changed. */
interface WordsField {
  readonly value: string
  readonly change: (value: string) => void
}

/** Fields for the name and the description of a dataset. */
export function DatasetWords({ name, description }: {
  readonly name: WordsField
  readonly description: WordsField
}) {
  return (
    <>
      <Field label="Name" required>
        {(ids) => (
          <input {...ids} value={name.value} maxLength={255} dir="auto"
            onChange={({ target }) => name.change(target.value)} />
        )}
      </Field>
      <Field label="Description">
        {(ids) => (
          <textarea {...ids} rows={2} value={description.value} maxLength={4_000} dir="auto"
            onChange={({ target }) => description.change(target.value)} />
        )}
      </Field>
    </>
  )
}
