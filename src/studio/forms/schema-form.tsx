/** A form made from a JSON Schema. */

import type { JsonObject } from '../api/client.ts'
import { SchemaControl } from './schema-control.tsx'
import { useBroken } from './use-broken.ts'

/** Edits a value of a schema; what the form does not know is edited as JSON. */
export interface SchemaFormProps {
  readonly schema: JsonObject
  readonly value: unknown
  readonly change: (value: unknown) => void
  /** Faults of the value, by the path of the field, such as `address.city`. */
  readonly errors?: Readonly<Record<string, string>>
  /** The name of a value that is no object; "Answer" if not given. */
  readonly label?: string
  /** Called with the places whose text is no value now, such as half a number. */
  readonly broken?: (places: readonly string[]) => void
}

/** Form for a value of a JSON Schema. */
export function SchemaForm(
  { schema, value, change, errors = {}, label = 'Answer', broken }: SchemaFormProps,
) {
  return (
    <SchemaControl schema={schema} value={value} change={change} isRoot place="" name={label}
      form={{ root: schema, errors, broken: useBroken(broken) }} />
  )
}
