/** The body of an error. */

import type { HeddleError } from '../errors.ts'

/** A body, and its media type if that is not JSON's own. */
export interface ErrorForm {
  readonly type?: string
  readonly body: Record<string, unknown>
}

/** The body of an error on REST. */
export function bodyOf({ message, code, details }: HeddleError): Record<string, unknown> {
  const { errors, url, limit, dependencies, quota, admitted } = details
  return { detail: message, message, code, ...(errors !== undefined && { errors }),
    ...(url !== undefined && { url }), ...(dependencies !== undefined && { dependencies }),
    ...(quota !== undefined && { quota }), ...(admitted !== undefined && { admitted }),
    ...(limit !== undefined && { error: 'Too Many Requests', limit }) }
}
