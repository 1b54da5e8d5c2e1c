/** Routes of the models that a workspace has configured. */

import { createModel, deleteModel, listLocalModels, listModels,
  patchModel } from '../../../api/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Adds the routes that list, create, change and delete configured models. */
export function playgroundSettingRoutes(app: App,
  { platform: { playgroundSettings, localModels } }: PlatformParts): void {
  serve(app, listModels, ({ caller: { tenant } }) => playgroundSettings.list(tenant))
  serve(app, listLocalModels, ({ caller: { tenant } }) => localModels.list(tenant))
  serve(app, createModel, ({ body, caller: { tenant } }) => playgroundSettings.create(tenant, body))
  serve(app, patchModel,
    ({ params, body, caller: { tenant } }) => playgroundSettings.patch(tenant, params.id, body))
  serve(app, deleteModel,
    ({ params, caller: { tenant } }) => playgroundSettings.delete(tenant, params.id))
}
