/** Prices of models: those of the workspace, and the built-in ones. */

import { queryOptions } from '@tanstack/react-query'

import type { ModelPrice, PriceBody } from '../../../api/index.ts'
import { ask } from '../ask.ts'
import { queries } from '../query.ts'

export type { ModelPrice, PriceBody }

/** The prices of the workspace. */
export const ownPrices = queryOptions({
  queryKey: ['prices', 'own'],
  queryFn: ({ signal }) => ask('GET /api/v1/model-price-map', { signal }),
})

/** The built-in prices, which hold where there is no own one. */
export const usualPrices = queryOptions({
  queryKey: ['prices', 'usual'],
  queryFn: ({ signal }) => ask('GET /api/v1/model-price-map/usual', { signal }),
  staleTime: Infinity,
})

/** Sets a price: a new one, or in place of one of the workspace. Costs of threads follow. */
export async function savePrice(id: string | undefined, body: PriceBody): Promise<void> {
  if (id === undefined) await ask('POST /api/v1/model-price-map', { body })
  else await ask('PUT /api/v1/model-price-map/:id', { params: { id }, body })
  await changed()
}

/** Deletes a price of the workspace: the built-in one holds again, if there is one. */
export async function deletePrice(id: string): Promise<void> {
  await ask('DELETE /api/v1/model-price-map/:id', { params: { id } })
  await changed()
}

async function changed(): Promise<void> {
  await Promise.all([queries.invalidateQueries({ queryKey: ownPrices.queryKey }),
    queries.invalidateQueries({ queryKey: ['thread'] })])
}
