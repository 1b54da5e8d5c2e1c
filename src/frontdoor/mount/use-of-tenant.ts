/** Use of a tenant in all: of its own project, and in every deployment where it has data. */

import { namespaceOf } from '../../deployment/index.ts'
import type { Deployments } from '../../deployment/index.ts'
import { sumOfUses } from '../../limits/index.ts'
import type { QuotaOptions } from '../../limits/index.ts'

/** Deployments that are counted. */
const countedMax = 1_000

/** Quotas count for the tenant, however many deployments its data are in. */
export function quotasOfTenant({ limits, use }: QuotaOptions,
  records: Pick<Deployments, 'list'>): QuotaOptions {
  return { limits, use: async (tenant) => {
    const all = await records.list({ limit: countedMax, offset: 0 })
    const namespaces = all.filter((each) => each.tenant === tenant || each.access === 'any')
      .map(({ name }) => namespaceOf({ tenant, deployment: name }))
    return sumOfUses(await Promise.all([tenant, ...namespaces].map((each) => use(each))))
  } }
}
