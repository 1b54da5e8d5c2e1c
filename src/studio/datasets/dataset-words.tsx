/** The fields for the name and the description of a dataset. */

import { TextArea, TextField } from '../parts/field.tsx'

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
      <TextField label="Name" required maxLength={255} {...name} />
      <TextArea label="Description" rows={2} maxLength={4_000} {...description} />
    </>
  )
}
