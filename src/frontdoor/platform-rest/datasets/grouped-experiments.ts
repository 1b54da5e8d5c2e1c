/** The route that groups the experiments of a dataset by values of their metadata. */

import { Type } from 'typebox'

import { HeddleError } from '../../../errors.ts'
import { groupedExperiments, sessionJson } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { Json, Nullable } from '../../schema/json.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { statsOf } from '../sessions/index.ts'
import { datasetOf, IdPath } from './dataset-of.ts'

const GroupExperiments = Type.Object({
  metadata_keys: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1,
    maxItems: 10 }),
  name_contains: Type.Optional(Nullable(Type.String({ maxLength: 1_000 }))),
  dataset_version: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
  experiment_limit: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 100 }))),
  /** The statistics are exact. */
  use_approx_stats: Type.Optional(Json()),
  filter: Type.Optional(Json()),
  stats_start_time: Type.Optional(Json()),
  tag_value_id: Type.Optional(Json()),
})
/** Members that would leave out experiments or runs. */
const narrowing = ['filter', 'stats_start_time', 'tag_value_id'] as const

/** Adds the route below `/api/v1`. */
export function groupedExperimentRoutes(app: App, parts: PlatformParts): void {
  app.post('/datasets/:id/experiments/grouped',
    platformRoute('read', { params: IdPath, body: GroupExperiments }),
    async ({ params, body, caller }, reply) => {
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
