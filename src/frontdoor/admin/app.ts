/** The routes by which callers see limits, and admins manage keys and watch the cluster. */

import type { App } from '../http/route.ts'
import { clusterRoutes } from './cluster.ts'
import type { ClusterRouteParts } from './cluster.ts'
import { keyRoutes } from './keys.ts'
import type { KeyRouteParts } from './keys.ts'
import { limitRoutes } from './limits.ts'
import type { LimitRouteParts } from './limits.ts'

/** Adds the routes. Call after the REST API is added. */
export function adminRoutes(app: App,
  parts: ClusterRouteParts & KeyRouteParts & LimitRouteParts): void {
  limitRoutes(app, parts)
  keyRoutes(app, parts)
  clusterRoutes(app, parts)
}
