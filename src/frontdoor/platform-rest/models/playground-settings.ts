/** Routes of the models that a workspace has configured. */

import { Type } from 'typebox'

import type { App } from '../../http/route.ts'
import { JsonObject, Nullable, Uuid } from '../../schema/json.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'

const Name = () => Type.String({ minLength: 1, maxLength: 200 })
const Description = () => Type.Optional(Nullable(Type.String({ maxLength: 2_000 })))
const Model = () => JsonObject({ 'x-max-characters': 96 * 1024 })
const ById = Type.Object({ id: Uuid() })
const Create = Type.Object({
  name: Name(),
  description: Description(),
  settings: Model(),
  is_default: Type.Optional(Type.Boolean()),
})
const Patch = Type.Object({
  name: Type.Optional(Name()),
  description: Description(),
  settings: Type.Optional(Model()),
  is_default: Type.Optional(Type.Boolean()),
})

/** Adds the routes below `/api/v1`. */
export function playgroundSettingRoutes(app: App,
  { platform: { playgroundSettings } }: PlatformParts): void {
  app.get('/playground-settings', platformRoute('read'),
    ({ caller: { tenant } }) => playgroundSettings.list(tenant))
  app.post('/playground-settings', platformRoute('change', { body: Create }),
    ({ body, caller: { tenant } }) => playgroundSettings.create(tenant, body))
  app.patch('/playground-settings/:id', platformRoute('change', { params: ById, body: Patch }),
    ({ params, body, caller: { tenant } }) => playgroundSettings.patch(tenant, params.id, body))
  app.delete('/playground-settings/:id', platformRoute('change', { params: ById }),
    async ({ params, caller: { tenant } }, reply) => {
      await playgroundSettings.delete(tenant, params.id)
      return reply.code(204).send()
    })
}
