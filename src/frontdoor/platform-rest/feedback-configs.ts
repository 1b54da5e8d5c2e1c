/** Routes of configurations of feedback: what the scores of a key mean. */

import { Type } from 'typebox'

import type { App } from '../http/route.ts'
import { JsonObject, Nullable, Offset } from '../schema/json.ts'
import { platformRoute } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'

const Key = () => Type.String({ minLength: 1, maxLength: 180 })
const keys = () => Type.Array(Key(), { maxItems: 100, 'x-verbatim': true })

const Config = Type.Object({
  feedback_key: Key(),
  feedback_config: Type.Optional(Nullable(JsonObject({ 'x-max-characters': 48 * 1024 }))),
  is_lower_score_better: Type.Optional(Nullable(Type.Boolean())),
})
const ListConfigs = Type.Object({
  key: Type.Optional(keys()),
  name_contains: Type.Optional(Type.String({ maxLength: 180 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
})
const DeleteConfigs = Type.Object({ feedback_key: keys() })

/** Adds the routes below `/api/v1`. */
export function feedbackConfigRoutes(app: App,
  { platform: { feedbackConfigs } }: PlatformParts): void {
  app.get('/feedback-configs', platformRoute('read', { querystring: ListConfigs }),
    async ({ query, caller: { tenant } }, reply) => {
      const { key, name_contains: part, limit = 100, offset = 0 } = query
      const { configs, total } = await feedbackConfigs.list(tenant, { limit, offset,
        ...key && { keys: key }, ...part !== undefined && { nameContains: part } })
      reply.header('x-pagination-total', total)
      return configs
    })
  app.post('/feedback-configs', platformRoute('change', { body: Config }),
    async ({ body, caller: { tenant } }) => feedbackConfigs.create(tenant, body))
  app.patch('/feedback-configs', platformRoute('change', { body: Config }),
    async ({ body, caller: { tenant } }) => feedbackConfigs.patch(tenant, body))
  app.delete('/feedback-configs', platformRoute('change', { querystring: DeleteConfigs }),
    async ({ query, caller: { tenant } }, reply) => {
      await feedbackConfigs.delete(tenant, query.feedback_key)
      return reply.code(204).send()
    })
}
