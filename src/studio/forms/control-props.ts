/** Properties that the controls of a form share. */

import type { JsonObject } from '../api/client.ts'

/** Properties that all fields of a form share. */
export interface Form {
  /** The whole schema, for references. */
  readonly root: JsonObject
  readonly errors: Readonly<Record<string, string>>
  readonly broken: (place: string, isBroken: boolean) => void
}

/** One value of a form. */
export interface ControlProps {
  readonly form: Form
  readonly schema: JsonObject
  readonly value: unknown
  readonly change: (value: unknown) => void
  readonly place: string
  /** The name of the property, or what the whole is called. */
  readonly name: string
  readonly required?: boolean
  /** True for the whole form: its object needs no frame. */
  readonly isRoot?: boolean
}
