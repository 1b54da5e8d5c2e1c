/**
 * Hides secrets in recorded bodies. What is hidden keeps its length, so that chunks stay as they
 * were, and a replay whose secrets are stars makes the same requests.
 */

import { secretValuesOf } from '../logs/secret-values.ts'
import { findCredentialForms } from '../secrets/credential-forms.ts'
import { valueFinder } from '../secrets/known-values.ts'
import { findNamedSecrets } from '../secrets/named-secrets.ts'
import { replaceSpans } from '../secrets/text-span.ts'

/** Hides secrets in a text, or in bytes that are read as one character each. */
export type HideSecrets = (text: string) => string

/**
 * Hides the values of secret variables, and of these names, in each encoding, and the values that
 * have the name or the form of a credential.
 */
export function byteHider(variables: NodeJS.ProcessEnv,
  names: readonly string[] = []): HideSecrets {
  const findValues = valueFinder(secretValuesOf(variables, names), inBytes)
  return (text) =>
    replaceSpans(text, [...findValues(text), ...findNamedSecrets(text),
      ...findCredentialForms(text)], starsFor)
}

/** The chunks with secrets hidden, also those that are in two of them. */
export function hiddenChunks(chunks: readonly Uint8Array[],
  hide: HideSecrets): readonly Uint8Array[] {
  if (chunks.length === 0) return chunks
  const joined = Buffer.concat(chunks)
  const text = joined.toString('latin1')
  const hidden = hide(text)
  if (hidden === text) return chunks
  const bytes = Buffer.from(hidden, 'latin1')
  let at = 0
  return chunks.map(({ byteLength }) => bytes.subarray(at, at += byteLength))
}

/** Returns as many stars as a secret has characters. */
export function starsFor(found: string): string {
  return '*'.repeat(found.length)
}

/** Returns a form of a value as it is in bodies, in which each byte is one character. */
export function inBytes(form: string): string {
  return Buffer.from(form).toString('latin1')
}
