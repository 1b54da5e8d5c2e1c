/**
 * Regular expressions that are made of tables of words. They are in this file alone, so that the
 * test of all expressions covers them: each takes time in proportion to its text.
 */

import { credentialWords } from './credential-name.ts'

const quote = String.raw`\\*["']|%22|%27|&quot;|&#34;`
const gap = String.raw`(?:\s|\\+[nrt]|%20){0,8}`

/** The end of a name, the separator of its value, and the quote before the value. */
export const namedValue = new RegExp(
  `(?:${credentialWords})(${quote}|)${gap}(=>|[:=>,]|%3[AD])${gap}(${quote}|\\[|)`,
  'gi',
)
/** The value of a pair like `{"name": "…", "value": "…"}`, behind its first comma. */
export const pairValue = new RegExp(
  `(?:${quote})value(?:${quote})${gap}(?::|%3A)${gap}(${quote})`,
  'iy',
)
/** The opening quote of the next string in a list. */
export const listElement = new RegExp(`(?:,|)${gap}(${quote})`, 'iy')
/** A name that ends with a credential word. */
export const credentialName = new RegExp(`(?:${credentialWords})$`, 'i')

/** Keys of known makers: a prefix, a mark and a long rest. */
export const makerKey = new RegExp(
  String.raw`(?<lead>\b|%[\dA-F]{2})(?<unlessWord>(?:sk|pk|rk|gh[pousr]|xox[abeprs]|lsv2|hdl|glpat`
    + String.raw`|github_pat|npm|hf|whsec|ya29)[-_.][\w*-]{12,})`,
  'g',
)
