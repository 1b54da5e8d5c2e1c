/** Looks through JSON before it is parsed: how deep it is nested, and how many values it has. */

import { HeddleError } from '../errors.ts'

/** Stores and serializers give up on deeper documents. */
const depthMax = 500
/** Parsing more takes memory and time beyond what their bytes say. */
const valuesMax = 1_000_000

/** Throws `invalid` for a text that is nested too deep. `what` names it. */
export function requireShallow(what: string, text: string): void {
  if (text.length < 2 * depthMax) return
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at)
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth > depthMax) throw tooDeep(what)
  }
}

function tooDeep(what: string): HeddleError {
  return new HeddleError('invalid', `${what} is nested deeper than ${depthMax} levels.`)
}

/** End of the string that begins at `from`; the end of the text if it is not closed. */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end > 0 ? end : text.length
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 1
}

const [tab, newline, carriageReturn, space, quote, comma, colon, backslash] = [9, 10, 13, 32, 34,
  44, 58, 92]
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125]

/**
 * Throws `invalid` for bytes that are nested too deep or have too many values, and stops there.
 * Each object, list, text, number and word is a value; keys are not.
 */
export function requireModest(what: string, bytes: Uint8Array, max = valuesMax): void {
  const { length } = bytes
  let [values, depth, at] = [0, 0, 0]
  while (at < length) {
    const code = bytes[at++]
    switch (code) {
      case tab:
      case newline:
      case carriageReturn:
      case space:
      case comma:
        continue
      // What came before was a key.
      case colon:
        values--
        continue
      case closeList:
      case closeObject:
        depth--
        continue
      case openList:
      case openObject:
        depth++
        break
      case quote:
        while (at < length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
        at++
        break
      default:
        while (at < length && !endsWord(bytes[at]!)) at++
    }
    if (depth > depthMax) throw tooDeep(what)
    if (++values > max) throw new HeddleError('invalid', `${what} has more than ${max} values.`)
  }
}

function endsWord(code: number): boolean {
  switch (code) {
    case comma:
    case closeList:
    case closeObject:
    case colon:
    case quote:
    case space:
    case newline:
    case carriageReturn:
    case tab:
      return true
    default:
      return false
  }
}
