/** The route that groups the experiments of a dataset by values of their metadata. */

import { groupExperiments } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { groupedExperiments, sessionJson } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'
import { statsOf } from '../sessions/index.ts'
import { datasetOf } from './dataset-of.ts'

/** Members that would leave out experiments or runs. */
const narrowing = ['filter', 'stats_start_time', 'tag_value_id'] as const

/** Adds the route below `/api/v1`. */
export function groupedExperimentRoutes(app: App, parts: PlatformParts): void {
  serve(app, groupExperiments, async ({ params, body, caller }, reply) => {
    const { tenant } = caller
    const asked = narrowing.find((name) => body[name] != null)
    if (asked !== undefined) {
      throw new HeddleError('invalid', `${asked}: it is not offered. Leave it out, or name ` +
        'experiments by name_contains and dataset_version.')
    }
    const { name_contains: part, dataset_version: version } = body
    const { id: dataset } = await datasetOf(parts, { params, caller })
    const { projects, total } = await parts.platform.projects.find(tenant, {
      referenceDatasetIds: [dataset],
      sortBy: 'start_time',
      descending: true,
      limit: body.experiment_limit ?? 100,
      offset: 0,
      ...part && { nameContains: part },
      ...version && { metadataJson: JSON.stringify({ dataset_version: version }) },
    })
    const stats = await statsOf(parts, tenant, projects, reply)
    reply.header('x-pagination-total', total)
    return { groups: groupedExperiments(projects, stats, body.metadata_keys).map((group) => ({
      ...group,
      experiments: group.experiments.map((each) => sessionJson(tenant, each, stats.get(each.id))),
    })) }
  })
}
