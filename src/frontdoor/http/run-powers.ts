/** The operations that the key of a run, and webhooks to own routes, may call. Pure. */

import type { Operation, Route } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'

/**
 * Operations of the platform that accept the key of a run without a user. The code of a run sends
 * its traces and feedback, and reads prompts and examples. All other operations reject the key.
 */
const platformOperations: ReadonlySet<string> = new Set<Route>([
  'POST /api/v1/runs',
  'PATCH /api/v1/runs/:id',
  'POST /api/v1/runs/batch',
  'POST /api/v1/runs/multipart',
  'POST /api/v1/otel/v1/traces',
  'POST /api/v1/otel/v1/logs',
  'POST /api/v1/otel/v1/metrics',
  'POST /api/v1/feedback',
  'POST /api/v1/feedback/eager',
  'POST /api/v1/feedback/tokens',
  'GET /api/v1/repos',
  'GET /api/v1/repos/:owner/:name',
  'GET /api/v1/repos/:owner/:name/tags',
  'GET /api/v1/repos/:owner/:name/tags/:tag',
  'GET /api/v1/commits/:name',
  'GET /api/v1/commits/:owner/:name',
  'GET /api/v1/commits/:owner/:name/:ref',
  'GET /api/v1/platform/hub/repos/:owner/:name/directories',
  'GET /api/v1/datasets',
  'GET /api/v2/datasets',
  'GET /api/v1/datasets/:id',
  'GET /api/v1/datasets/:id/version',
  'GET /api/v1/datasets/:id/versions',
  'GET /api/v1/datasets/:id/splits',
  'GET /api/v1/examples',
  'GET /api/v1/examples/count',
  'GET /api/v1/examples/:id',
  'GET /api/v1/settings',
  'GET /api/v1/auth',
  'GET /limits',
])

/**
 * Returns true if an operation accepts the key of a run without a user: each operation on the data
 * of a project, and the operations of the platform that this file lists.
 */
export function mayRunCall({ asks, access, method, path }: Operation): boolean {
  if (asks !== undefined) return access !== 'admin'
  return platformOperations.has(`${method} ${path}`)
}

/**
 * Header of webhooks to own routes, which have the powers of the key of a run also on a server
 * without keys. Whoever chose the path of a webhook may have fewer rights than this machine.
 */
export const ownRouteHeader = 'x-heddle-own-route'

/** The error for the key of a run that calls an operation which is closed to it. */
export function runMayNotCall(): HeddleError {
  return new HeddleError('forbidden',
    'The key of a run may not do this. It accepts operations on ' +
      'the data of its project. Of the platform, it sends traces and feedback, and reads prompts ' +
      'and examples. Use an API key of your own.')
}

/** The error for the key of a run outside of the project whose login knows its user. */
export function userMayNotCall(): HeddleError {
  return new HeddleError('forbidden',
    'The key of a run may call only the data of its own project, ' +
      'with the rights of whoever started the run. Use an API key of your own.')
}
