/** Request bodies: read as JSON, whatever their content type. */

import { HeddleError } from '../../errors.ts'
import { jsonOf } from '../json-text.ts'
import type { App } from './route.ts'

/** An empty body counts as no body: the schema then names what is missing. */
export function acceptJson(app: App): void {
  // HTTP/2 has no header that announces a body: without a type, Fastify would not read it.
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

/** Throws `unsupported`, which is 422: the official client would retry a 415. */
function mustBePlain(encoding = 'identity'): void {
  if (encoding === 'identity') return
  throw new HeddleError('unsupported', `Compressed bodies are not offered yet: send this one as ` +
    `it is, without content-encoding: ${encoding}.`)
}
