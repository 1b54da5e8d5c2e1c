/** The parts of a call's URL and headers that a recording keeps. Pure. */

import type { CallHeaders } from '../calls/call.ts'

/** Value in place of one that looks like a key. */
const masked = '***'
/** Last words of names whose values are keys, and words before `token` that make it a place. */
const keyWords: ReadonlySet<string> = new Set(['key', 'apikey', 'token', 'accesstoken', 'authtoken',
  'secret', 'password', 'passwd', 'pwd', 'pass', 'auth', 'authorization', 'signature', 'sig',
  'credential', 'credentials', 'session', 'jwt', 'code'])
const placeWords: ReadonlySet<string> = new Set(['page', 'next', 'continuation', 'sync', 'max',
  'cursor'])

/** Headers of answers that are kept, by their names or the end of these. */
const keptNames =
  /^(?:content-type|location|retry-after(?:-ms)?)$|request-id$|processing-ms$|-usage$/

/** The URL without a name and password, and with values masked that look like keys. */
export function recordedUrl(text: string, hide: (text: string) => string): string {
  return hide(isAbsolute(text) ? withoutUser(text) : text)
    .replace(/([?&#])([^=?&#]+)=([^&#]*)/g,
      (whole, mark: string, name: string, value: string) =>
        value !== '' && isKey(name) ? `${mark}${name}=${masked}` : whole)
}

/** The headers of an answer that say what it is. */
export function recordedHeaders(headers: CallHeaders, hide: (text: string) => string): CallHeaders {
  return headers.filter(([name]) => keptNames.test(name)).map((
    [name, value],
  ) => [name, name === 'location' ? recordedUrl(value, hide) : hide(value)])
}

function isAbsolute(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(text)
}

function withoutUser(text: string): string {
  return text.replace(/^([^/]+:\/\/)[^/?#@]*@/, '$1')
}

function isKey(name: string): boolean {
  const words = plainOf(name).replace(/([a-z\d])([A-Z])/g, '$1-$2').toLowerCase().split(/[^a-z\d]+/)
  return keyWords.has(words.at(-1) ?? '') && !placeWords.has(words.at(-2) ?? '')
}

function plainOf(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
