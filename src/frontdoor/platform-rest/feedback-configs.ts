/** Routes of configurations of feedback: what the scores of a key mean. */

import { createFeedbackConfig, deleteFeedbackConfigs, listFeedbackConfigs,
  patchFeedbackConfig } from '../../api/index.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import type { PlatformParts } from './platform-route.ts'

/** Adds the routes that list, create, change and delete configurations of feedback. */
export function feedbackConfigRoutes(app: App,
  { platform: { feedbackConfigs } }: PlatformParts): void {
  serve(app, listFeedbackConfigs, async ({ query, caller: { tenant } }, reply) => {
    const { key, name_contains: part, limit = 100, offset = 0 } = query
    const { configs, total } = await feedbackConfigs.list(tenant, { limit, offset,
      ...key && { keys: key }, ...part !== undefined && { nameContains: part } })
    reply.header('x-pagination-total', total)
    return configs
  })
  serve(app, createFeedbackConfig,
    async ({ body, caller: { tenant } }) => feedbackConfigs.create(tenant, body))
  serve(app, patchFeedbackConfig,
    async ({ body, caller: { tenant } }) => feedbackConfigs.patch(tenant, body))
  serve(app, deleteFeedbackConfigs,
    async ({ query, caller: { tenant } }) => feedbackConfigs.delete(tenant, query.feedback_key))
}
