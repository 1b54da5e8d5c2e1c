/** Refuses paths that a proxy in front of this server may have read as another path. */

import type { FastifyInstance } from 'fastify'

import { HeddleError } from '../../errors.ts'
import { isAmbiguous } from '../../limits/index.ts'

/** Adds the refusal. Call before any route is added. */
export function requireClearPaths(app: FastifyInstance): void {
  app.addHook('onRequest', ({ originalUrl }, _reply, done) => {
    if (!isAmbiguous(originalUrl)) return done()
    done(new HeddleError('malformed', 'The path has an escaped slash beside "." or "..", which ' +
      'programs read in different ways: resolve the path before you send it.'))
  })
}
