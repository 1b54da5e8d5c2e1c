/** Request bodies: JSON, whatever the client calls it. */

import { HeddleError } from '../../errors.ts'
import type { App } from './route.ts'

/** Stores and serializers give up on deeper documents. */
const depthMax = 500

/** An empty body counts as none: a schema then names what is missing. */
export function acceptJson(app: App): void {
  // HTTP/2 has no header that tells a body from none: without a type it would not be looked for.
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.httpVersionMajor === 2) raw.headers['content-type'] ??= 'application/json'
    done()
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, parsed(body as string))
    } catch (error) {
      done(error as Error, undefined)
    }
  })
}

function parsed(text: string): unknown {
  if (text.trim() === '') return undefined
  if (isTooDeep(text)) {
    throw new HeddleError('invalid', `The body is nested deeper than ${depthMax} levels.`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = (error as Error).message
    throw new HeddleError('malformed', `The body is not valid JSON: ${reason}.`)
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

/** Where the string that begins at `from` ends; the end of the text where it never does. */
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
