/** Routes of what models cost. */

import { createPrice, deletePrice, listPrices, listUsualPrices,
  replacePrice } from '../../../api/index.ts'
import { usualPrices } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'

const usual = { as_of: usualPrices.asOf,
  prices: usualPrices.prices.map(({ provider, name, input, cachedInput, cacheWrite, output }) => ({
    provider,
    name,
    input,
    cached_input: cachedInput,
    cache_write: cacheWrite,
    output,
  })) }

/** Adds the routes that list, create, replace and delete prices of models. */
export function priceRoutes(app: App, { platform: { prices } }: PlatformParts): void {
  serve(app, listPrices, ({ caller: { tenant } }) => prices.list(tenant))
  serve(app, listUsualPrices, async () => usual)
  serve(app, createPrice, ({ body, caller: { tenant } }) => prices.create(tenant, body))
  serve(app, replacePrice,
    ({ params, body, caller: { tenant } }) => prices.replace(tenant, params.id, body))
  serve(app, deletePrice, ({ params, caller: { tenant } }) => prices.delete(tenant, params.id))
}
