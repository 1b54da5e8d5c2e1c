/** The REST wire of the platform: its roots, its bodies, its errors and its routes. */

import type { App } from '../http/route.ts'
import { alertRuleRoutes } from './alerts/index.ts'
import { chartRoutes } from './charts.ts'
import { bulkDeletionRoutes, traceDeletionRoutes } from './deletions/index.ts'
import { exportRoutes } from './export.ts'
import { comparisonRoutes, datasetFileRoutes, datasetRoutes, datasetRoutesV2, datasetRunRoutes,
  datasetRunRoutesV2, datasetVersionRoutes, exampleBodyRoutes, exampleRoutes,
  groupedExperimentRoutes } from './datasets/index.ts'
import { feedbackConfigRoutes } from './feedback-configs.ts'
import { feedbackRoutes, feedbackTokenRoutes } from './feedback.ts'
import { infoRoutes } from './info.ts'
import { ingestRoutes } from './ingest.ts'
import { backgroundExperimentRoutes, experimentRoutes, generateRoutes, playgroundRoutes,
  playgroundSettingRoutes, priceRoutes, secretRoutes } from './models/index.ts'
import { commentRoutes, commitRoutes, directoryCommitRoutes, directoryRoutes, repoRoutes,
  tagRoutes } from './prompts/index.ts'
import { acceptBytes, acceptImages, acceptQuestions } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { evaluatorRoutes, ruleRoutes } from './rules/index.ts'
import { queueItemRoutes, queueRoutes, queueRunRoutes } from './queues/index.ts'
import { runRoutesV2 } from './runs-v2.ts'
import { runRoutes } from './runs.ts'
import { sessionRoutes, sessionRoutesV2, viewRoutes } from './sessions/index.ts'
import { datasetShareRoutes, downloadRoutes, pageLinkRoutes, publicRunRoutes, publicRunRoutesV2,
  runShareRoutes, sharedExperimentRoutes, sharedExperimentRunRoutes,
  shareRoutesV2 } from './shares/index.ts'
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
  await below('/api/v1', acceptBytes, ingestRoutes, commitRoutes, directoryCommitRoutes,
    exampleBodyRoutes)
  await below('/api/v1', acceptQuestions, infoRoutes, runRoutes, sessionRoutes, viewRoutes,
    feedbackRoutes, feedbackTokenRoutes, feedbackConfigRoutes, chartRoutes, exportRoutes,
    traceDeletionRoutes, bulkDeletionRoutes, repoRoutes, commentRoutes, tagRoutes, directoryRoutes,
    secretRoutes, playgroundSettingRoutes, priceRoutes, generateRoutes, experimentRoutes,
    backgroundExperimentRoutes, ruleRoutes, evaluatorRoutes, alertRuleRoutes)
  await below('/api/v1', acceptImages, playgroundRoutes)
  await below('/api/v1', acceptQuestions, datasetRoutes, datasetVersionRoutes, datasetFileRoutes,
    exampleRoutes, comparisonRoutes, datasetRunRoutes, groupedExperimentRoutes)
  await below('/api/v2', acceptQuestions, runRoutesV2, threadRoutesV2, sessionRoutesV2,
    datasetRoutesV2, datasetRunRoutesV2, sqlRoutes)
  await below('/api/v1', acceptQuestions, queueRoutes, queueRunRoutes, queueItemRoutes)
  await below('/api/v1', acceptQuestions, runShareRoutes, publicRunRoutes, datasetShareRoutes,
    sharedExperimentRoutes, sharedExperimentRunRoutes, downloadRoutes, pageLinkRoutes)
  await below('/api/v2', acceptQuestions, shareRoutesV2, publicRunRoutesV2)
}
