/** Parses JSON from clients, in every protocol, unless it is nested too deep. */

import { HeddleError } from '../errors.ts'

/** Stores and serializers give up on deeper documents. */
const depthMax = 500

/** `what` names it. Throws `malformed` if it is no JSON, `invalid` if it is too deep. */
export function jsonOf(what: string, text: string): unknown {
  if (isTooDeep(text)) {
    throw new HeddleError('invalid', `${what} is nested deeper than ${depthMax} levels.`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = (error as Error).message
    throw new HeddleError('malformed', `${what} is not valid JSON: ${reason}.`)
  }
}

function isTooDeep(text: string): boolean {
  if (text.length < 2 * depthMax) return false
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at)
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth > depthMax) return true
  }
  return false
}

/** Where the string that begins at `from` ends; the end of the text if it never does. */
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
