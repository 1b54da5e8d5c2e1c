/** Finds credentials by their own form: JWTs, private keys, headers, and keys of known makers. */

import { makerKey } from './built-expressions.ts'
import type { FindSecrets, TextSpan } from './text-span.ts'

/** Patterns of credentials. Each matches its lead as well: a look behind runs at each character. */
const forms: readonly RegExp[] = [
  /\b(?<lead>(?:bearer|basic)(?:\s+|%20|\+))(?<unlessWord>[\w.~+/=*-]{16,})/gi,
  /(?<lead>:\/\/[^\s:/@]{1,64}:)(?<secret>[^\s/@]{1,256})(?=@)/g,
  /(?<lead>\b|%[\dA-F]{2})(?<secret>A(?:KI|SI)A[A-Z\d]{16}|AIza[\w-]{35})/g,
  /(?<lead>-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----)(?<secret>[^-]{1,16384})/g,
]

/** The mark and the rest. It is rare in texts, and so it is looked for first. */
const makerRest = /[-_.][\w*-]{12,}/g
/** Characters before the mark: the longest prefix, what leads to it, and one more. */
const prefixMax = 14

/** Returns the credentials that are recognised without a name. */
export const findCredentialForms: FindSecrets = (text) => [
  ...forms.flatMap((form) => formSpans(text, form)),
  ...makerKeys(text),
  ...findTokens(text),
]

function formSpans(text: string, form: RegExp): readonly TextSpan[] {
  return [...text.matchAll(form)].flatMap(({ index, groups }): readonly TextSpan[] => {
    const { lead = '', secret, unlessWord = '' } = groups ?? {}
    // Words have no digits, and no capitals inside. Stars replace a secret of a replay.
    if (secret === undefined && !/[\d*]|[a-z][A-Z]/.test(unlessWord)) return []
    const from = index + lead.length
    return [[from, from + (secret ?? unlessWord).length]]
  })
}

function makerKeys(text: string): readonly TextSpan[] {
  return [...text.matchAll(makerRest)].flatMap(({ index, 0: rest }) => {
    const start = Math.max(0, index - prefixMax)
    return formSpans(text.slice(start, index + rest.length), makerKey)
      .map(([from, to]): TextSpan => [start + from, start + to])
  })
}

/** JWTs and their encrypted kind: parts of base64url with dots, of which the first is JSON. */
function findTokens(text: string): readonly TextSpan[] {
  const spans: TextSpan[] = []
  const part = /[\w-]*/y
  const partEnd = (from: number): number => {
    part.lastIndex = from
    part.exec(text)
    return part.lastIndex
  }
  for (let from = text.indexOf('eyJ'); from >= 0; from = text.indexOf('eyJ', from)) {
    let [at, parts] = [partEnd(from), 1]
    while (text[at] === '.' && parts < 5) {
      at = partEnd(at + 1)
      parts++
    }
    if (parts >= 3) spans.push([from, at])
    from = at
  }
  return spans
}
