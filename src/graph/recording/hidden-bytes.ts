/**
 * Hides secrets in recorded bodies. What is hidden keeps its length, so that chunks stay as they
 * were, and a replay whose secrets are stars makes the same requests.
 */

import { secretValuesOf } from '../logs/secret-values.ts'

/** Hides secrets in a text, or in bytes that are read as one character each. */
export type HideSecrets = (text: string) => string

/**
 * Credentials in a header or a URL, and keys of known makers. Words alone have no digits. What
 * leads to one is part of the match, as a look behind would be tried at each character.
 */
const forms: readonly RegExp[] = [
  /\b(?<lead>(?:bearer|basic)\s+)(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,}/gi,
  /(?<lead>:\/\/[^\s:/@]{1,64}:)[^\s/@]{1,256}(?=@)/g,
  /\b(?<lead>)(?:sk|pk|rk|ghp|gho|xox[abp]|lsv2|hdl)[-_](?=[\w-]{0,200}\d)[\w-]{12,}/g,
]

/**
 * Hides the values of secret variables, and of these names, as they are and as JSON and URLs write
 * them.
 */
export function byteHider(variables: NodeJS.ProcessEnv,
  names: readonly string[] = []): HideSecrets {
  const values = [...new Set(secretValuesOf(variables, names).flatMap(writtenForms))]
    // One may be part of another.
    .sort((a, b) => b.length - a.length)
  return (text) => {
    let shown = text
    for (const value of values) shown = shown.replaceAll(value, starsFor)
    for (const form of forms) shown = shown.replace(form, starsAfter)
    return shown
  }
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

function starsAfter(found: string, lead: string): string {
  return lead + starsFor(found.slice(lead.length))
}

function starsFor(found: string): string {
  return '*'.repeat(found.length)
}

/** The forms of a value in bodies, in which each byte is one character. */
function writtenForms(value: string): readonly string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]
    .map((each) => Buffer.from(each).toString('latin1'))
}
