/** The dataset that a link names, for whoever has the link. */

import { HeddleError } from '../../../errors.ts'
import type { Dataset } from '../../../platform/index.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Throws `not_found`, also if the token names something else. */
export async function sharedDataset({ platform }: PlatformParts, token: string): Promise<
  { readonly tenant: string; readonly dataset: Dataset }
> {
  const { tenant, object } = await platform.shares.find(token)
  const [dataset] = object.kind === 'dataset'
    ? await platform.datasets.get(tenant, [object.id])
    : []
  if (dataset !== undefined) return { tenant, dataset }
  throw new HeddleError('not_found', 'This link names no dataset, or it is gone.')
}
