/** Turns the refusal of a login into an error with its status, its words and its headers. Pure. */

import { HeddleError } from '../../errors.ts'
import type { ErrorCode } from '../../errors.ts'
import type { Refused } from '../../graph/index.ts'

/** The code of each status that has one. The status itself is what the handler said. */
const codes: Readonly<Record<number, ErrorCode>> = { 400: 'malformed', 401: 'unauthenticated',
  404: 'not_found', 409: 'exists', 413: 'too_large', 422: 'invalid', 429: 'over_quota' }

/** Headers that say how an answer is sent: a handler does not decide that. */
const ofTransport = new Set(['connection', 'content-encoding', 'content-length', 'content-type',
  'date', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** Headers that an answer takes from a handler, and the characters of all of them. */
const [headersMax, charactersMax] = [32, 8 * 1024]

/** Characters of what a handler says. */
const messageMax = 4 * 1024

/** The error for a refusal. Without words it says what its code says. */
export function refusalOf({ status, message, headers }: Refused): HeddleError {
  const known = Number.isInteger(status) && status >= 400 && status <= 599 ? status : 500
  const code = codes[known] ?? (known < 500 ? 'forbidden' : 'unavailable')
  const said = message === '' ? defaultOf(code) : message.slice(0, messageMax)
  return new HeddleError(code, said, { refusal: { status: known, headers: headersOf(headers) } })
}

/** The error for what a login got wrong. It says nothing of it: whoever knows it logs it. */
export function loginFault(): HeddleError {
  return refusalOf({ kind: 'refused', status: 500, message: 'Internal Server Error', headers: [] })
}

function defaultOf(code: ErrorCode): string | undefined {
  return code === 'forbidden' ? 'The login of this project does not allow this.' : undefined
}

function headersOf(headers: Refused['headers']): Refused['headers'] {
  let characters = 0
  return headers.slice(0, headersMax).filter(([name, value]) => {
    characters += name.length + value.length
    return characters <= charactersMax && !ofTransport.has(name.toLowerCase())
      && /^[!#$%&'*+.^`|~\w-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
  })
}
