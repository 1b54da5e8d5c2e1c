/** Routes of what models cost. */

import { createPrice, deletePrice, listPrices, replacePrice } from '../../../api/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Adds the routes that list, create, replace and delete prices of models. */
export function priceRoutes(app: App, { platform: { prices } }: PlatformParts): void {
  serve(app, listPrices, ({ caller: { tenant } }) => prices.list(tenant))
  serve(app, createPrice, ({ body, caller: { tenant } }) => prices.create(tenant, body))
  serve(app, replacePrice,
    ({ params, body, caller: { tenant } }) => prices.replace(tenant, params.id, body))
  serve(app, deletePrice, ({ params, caller: { tenant } }) => prices.delete(tenant, params.id))
}
