/** Request bodies: JSON, whatever the client calls it. */

import type { FastifyInstance } from 'fastify'

import { HeddleError } from '../../errors.ts'

/** An empty body counts as none: a schema then names what is missing. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    const text = body as string
    if (text.trim() === '') return done(null, undefined)
    try {
      done(null, JSON.parse(text))
    } catch (error) {
      const reason = (error as Error).message
      done(new HeddleError('malformed', `The body is not valid JSON: ${reason}.`), undefined)
    }
  })
}
