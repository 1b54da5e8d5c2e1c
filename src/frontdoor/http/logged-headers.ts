/** Headers of a request in the log, as a project chooses them. Secrets are never there. Pure. */

import { keyLookalike } from '../../access/index.ts'
import { holdsCredentials } from '../../graph/index.ts'
import type { HeaderChoice } from '../../graph/index.ts'
import { chosen } from '../schema/chosen-headers.ts'
import { holdsToken } from '../schema/token-lookalike.ts'

/** Headers of one request, and characters of one value, that are logged. */
const namesMax = 50
const charactersMax = 256

/** Parts of names that tell of a secret. */
const telling = /auth|token|key|secret|passw|credential|cookie|session|signature|csrf|xsrf|jwt/

/** The chosen headers, cut to a length. A value that looks like a key or a token is left out. */
export function loggedHeaders(headers: Readonly<Record<string, string | string[] | undefined>>,
  choice: HeaderChoice): Readonly<Record<string, string>> {
  const found = Object.entries(headers)
    .filter(([name]) => !isSecret(name) && chosen(name, choice, () => true))
    .map(([name, value]) => [name, String(value)] as const)
    .filter(([, text]) => !keyLookalike.test(text) && !holdsToken(text))
  return Object.fromEntries(
    found.slice(0, namesMax).map(([name, text]) => [name, text.slice(0, charactersMax)]),
  )
}

function isSecret(name: string): boolean {
  return holdsCredentials(name) || telling.test(name)
}
