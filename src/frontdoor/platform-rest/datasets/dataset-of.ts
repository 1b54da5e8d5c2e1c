/** Common code of routes of datasets: the dataset and the version that a request names. */

import type { FastifyRequest } from 'fastify'

import type { Dataset, ExamplesRequest } from '../../../platform/index.ts'
import { requireId } from '../path-id.ts'
import type { PlatformParts } from '../platform-route.ts'

/** The dataset that a path names. Throws `not_found`. */
export function datasetOf({ platform }: PlatformParts, { params, caller }: {
  readonly params: { readonly id: string }
  readonly caller: FastifyRequest['caller']
}): Promise<Dataset> {
  return platform.datasets.one(caller.tenant, requireId(params.id, 'dataset'))
}

/** The version that a query names, if it does. */
export function asOfIn(
  { as_of: asOf }: { readonly as_of?: string },
): Pick<ExamplesRequest, 'asOf'> {
  return asOf === undefined || asOf === '' ? {} : { asOf }
}
