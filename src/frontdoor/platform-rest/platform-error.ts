/** Errors as clients read them: those of the platform have a form of their own. */

import type { HeddleError } from '../../errors.ts'
import { bodyOf } from '../error-body.ts'
import type { ErrorForm } from '../error-body.ts'

/** Details of an error that clients of the control API read besides the code and the message. */
const controlDetails = ['errors', 'graphs', 'limit', 'dependencies', 'url'] as const

/**
 * The form at this routed address. The control API answers `{error, message}`: code and sentence.
 * Of the platform, `error` and `detail` are the sentence; the newer API answers a problem object
 * (RFC 9457). Routes of a deployment have their own form.
 */
export function errorForm(error: HeddleError, url: string): ErrorForm {
  if (url.startsWith('/control/')) return { body: controlBody(error) }
  const body = bodyOf(error)
  if (!url.startsWith('/api/')) return { body }
  const both = { ...body, error: error.message }
  if (!url.startsWith('/api/v2/')) return { body: both }
  const { httpStatus: status, code } = error
  return { type: 'application/problem+json',
    body: { type: 'about:blank', title: code.replaceAll('_', ' '), status, ...both } }
}

function controlBody({ code, message, details }: HeddleError): Record<string, unknown> {
  const more = controlDetails.flatMap((name) =>
    details[name] === undefined ? [] : [[name, details[name]] as const]
  )
  return { error: code, message, ...Object.fromEntries(more) }
}
