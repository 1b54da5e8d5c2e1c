/** The control API: what deploys, switches and watches deployments. */

import type { App } from '../http/route.ts'
import { buildFileRoutes, buildRoutes } from './builds.ts'
import { deploymentRoutes } from './deployments.ts'
import { eventRoutes } from './events.ts'
import { addHosted } from './hosted.ts'
import { logRoutes } from './logs.ts'
import type { ControlParts } from './parts.ts'
import { chunkRoutes, revisionRoutes } from './revisions.ts'
import { replayRoutes } from './replays.ts'
import { rolloutRoutes } from './rollouts.ts'
import { secretRoutes } from './secrets.ts'

/** Adds the routes. Call after the REST API is added. */
export async function addControl(app: App, parts: ControlParts): Promise<void> {
  deploymentRoutes(app, parts)
  revisionRoutes(app, parts)
  buildRoutes(app, parts)
  rolloutRoutes(app, parts)
  replayRoutes(app, parts)
  secretRoutes(app, parts)
  eventRoutes(app, parts)
  logRoutes(app, parts)
  await addHosted(app, parts)
  await app.register(async (scope) => {
    chunkRoutes(scope as App, parts)
    buildFileRoutes(scope as App, parts)
  })
}
