/** Request bodies: JSON, whatever content type the client sends. */

import { HeddleError } from '../../errors.ts'
import { jsonOf } from '../json-text.ts'
import type { App } from './route.ts'

/** An empty body counts as none: the schema then names the fields that are missing. */
export function acceptJson(app: App): void {
  // In HTTP/2 no header tells whether there is a body: without a type, it would be ignored.
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.httpVersionMajor === 2) raw.headers['content-type'] ??= 'application/json'
    done()
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, ({ headers }, body, done) => {
    try {
      mustBePlain(headers['content-encoding'])
      const text = body as string
      done(null, text.trim() === '' ? undefined : jsonOf('The body', text))
    } catch (error) {
      done(error as Error, undefined)
    }
  })
}

/** The official client would repeat a 415. */
function mustBePlain(encoding = 'identity'): void {
  if (encoding === 'identity') return
  throw new HeddleError('unsupported', `Compressed bodies are not offered yet: send this one as ` +
    `it is, without content-encoding: ${encoding}.`)
}
