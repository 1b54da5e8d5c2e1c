/** Routes of what models cost. */

import { Type } from 'typebox'

import type { App } from '../../http/route.ts'
import { JsonObject, Nullable, Uuid } from '../../schema/json.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'

const Cost = () => Type.Number({ minimum: 0, maximum: 1_000_000 })
const Details = () => Type.Optional(Nullable(JsonObject({ 'x-max-characters': 8 * 1024 })))
const ById = Type.Object({ id: Uuid() })
const Price = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 500 }),
  match_pattern: Type.String({ minLength: 1, maxLength: 1_000 }),
  match_path: Type.Optional(
    Nullable(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 20 })),
  ),
  prompt_cost: Cost(),
  completion_cost: Cost(),
  prompt_cost_details: Details(),
  completion_cost_details: Details(),
  provider: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  start_time: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
})

/** Adds the routes below `/api/v1`. */
export function priceRoutes(app: App, { platform: { prices } }: PlatformParts): void {
  app.get('/model-price-map', platformRoute('read'),
    ({ caller: { tenant } }) => prices.list(tenant))
  app.post('/model-price-map', platformRoute('change', { body: Price }),
    ({ body, caller: { tenant } }) => prices.create(tenant, body))
  app.put('/model-price-map/:id', platformRoute('change', { params: ById, body: Price }),
    ({ params, body, caller: { tenant } }) => prices.replace(tenant, params.id, body))
  app.delete('/model-price-map/:id', platformRoute('change', { params: ById }),
    async ({ params, caller: { tenant } }, reply) => {
      await prices.delete(tenant, params.id)
      return reply.code(204).send()
    })
}
