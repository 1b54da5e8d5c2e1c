/** The items that graphs get: what they put counts towards the quota of their tenant. */

import type { GraphItems } from '../graph/index.ts'
import type { Quotas } from '../limits/index.ts'

/** Refuses puts of a tenant that has used up its bytes. It can still read and delete. */
export function itemsWithinQuota(items: GraphItems, quotas: Pick<Quotas, 'within'>): GraphItems {
  return { batch: (tenant, operations) => {
    const work = () => items.batch(tenant, operations)
    const isPut = operations.some(({ kind }) => kind === 'put')
    return isPut ? quotas.within(tenant, {}, work) : work()
  } }
}
