/** The REST wire of the platform: its roots, its bodies, its errors and its routes. */

import type { App } from '../http/route.ts'
import { chartRoutes } from './charts.ts'
import { exportRoutes } from './export.ts'
import { feedbackConfigRoutes } from './feedback-configs.ts'
import { feedbackRoutes, feedbackTokenRoutes } from './feedback.ts'
import { infoRoutes } from './info.ts'
import { ingestRoutes } from './ingest.ts'
import { acceptBytes, acceptQuestions } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { runRoutesV2 } from './runs-v2.ts'
import { runRoutes } from './runs.ts'
import { sessionRoutesV2 } from './sessions-v2.ts'
import { sessionRoutes } from './sessions.ts'
import { sqlRoutes } from './sql.ts'
import { threadRoutesV2 } from './threads-v2.ts'

/** Adds the platform to an app. */
export async function addPlatform(app: App, parts: PlatformParts): Promise<void> {
  const below = (prefix: string, accept: (app: App) => void,
    ...routes: readonly ((app: App, parts: PlatformParts) => void)[]) =>
    app.register(async (scope) => {
      accept(scope as App)
      for (const add of routes) add(scope as App, parts)
    }, { prefix })
  await below('/api/v1', acceptBytes, ingestRoutes)
  await below('/api/v1', acceptQuestions, infoRoutes, runRoutes, sessionRoutes, feedbackRoutes,
    feedbackTokenRoutes, feedbackConfigRoutes, chartRoutes, exportRoutes)
  await below('/api/v2', acceptQuestions, runRoutesV2, threadRoutesV2, sessionRoutesV2, sqlRoutes)
}
