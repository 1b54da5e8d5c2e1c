/** What is said to a thread that reads long bodies, and what it says. */

import type { ErrorCode, HeddleError } from '../../errors.ts'
import type { BodyForm } from '../ingest/body/request-body.ts'

/** A body, and what it is read as. The bytes are moved. */
export type BodyJob =
  & { readonly body: Uint8Array }
  & (
    | { readonly kind: 'operations'; readonly form: BodyForm }
    | { readonly kind: 'examples' }
    | { readonly kind: 'exampleParts'; readonly contentType: string }
    | { readonly kind: 'experiment'; readonly formOnly: boolean }
    | { readonly kind: 'upload'; readonly contentType: string; readonly formOnly: boolean }
  )

/** A part of what a body says, its end, or why it cannot be read. */
export type BodyMail =
  | { readonly part: unknown }
  | { readonly done: true }
  | {
    readonly error: { readonly code: ErrorCode; readonly message: string;
      readonly details: HeddleError['details'] }
  }
