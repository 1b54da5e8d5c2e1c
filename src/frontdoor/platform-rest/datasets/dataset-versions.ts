/** Routes of the versions of datasets: their tags, their splits, and how they differ. */

import { changeDatasetSplit, compareDatasetVersions, getDatasetVersion, listDatasetSplits,
  listDatasetVersions, tagDatasetVersion } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { versionName } from '../../../platform/index.ts'
import type { Dataset } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'
import { asOfIn, datasetOf } from './dataset-of.ts'

/** Versions that are looked through for those of a page. */
const versionsMax = 1_000

/** Adds the routes that tag, read, list and compare versions, and those of splits. */
export function datasetVersionRoutes(app: App, parts: PlatformParts): void {
  const { datasets, query: ask } = parts.platform
  /** The version that a time or a tag means. Throws `not_found`. */
  const versionOf = async (tenant: string, dataset: Dataset, asOf: string) => {
    const found = await ask.datasetVersion({ tenant, dataset, asOf })
    if (found !== null) return found
    throw new HeddleError('not_found', 'Dataset version not found.')
  }

  serve(app, tagDatasetVersion, async ({ params, caller, body: { as_of: asOf, tag } }) => {
    const { tenant } = caller
    if (tag === 'latest') throw new HeddleError('invalid', 'tag: latest is the newest version.')
    const dataset = await datasetOf(parts, { params, caller })
    const named = await versionOf(tenant, dataset, asOf)
    return versionName(await datasets.tag(tenant, dataset.id, tag, named), named)
  })

  serve(app, getDatasetVersion, async ({ params, caller, query: { as_of: asOf, tag } }) => {
    const { tenant } = caller
    const dataset = await datasetOf(parts, { params, caller })
    if (tag !== undefined && tag !== 'latest' && !Object.hasOwn(dataset.tags, tag)) {
      throw new HeddleError('not_found', `Dataset version ${JSON.stringify(tag)} not found.`)
    }
    return versionName(dataset, await versionOf(tenant, dataset, tag ?? asOf ?? 'latest'))
  })

  serve(app, listDatasetVersions,
    async ({ params, caller, query: { limit = 100, offset = 0, search } }) => {
      const { tenant } = caller
      const dataset = await datasetOf(parts, { params, caller })
      if (search === undefined) return ask.datasetVersions({ tenant, dataset, limit, offset })
      const all = await ask.datasetVersions({ tenant, dataset, limit: versionsMax, offset: 0 })
      return all.filter(({ tags }) => tags.some((tag) => tag.includes(search)))
        .slice(offset, offset + limit)
    })

  serve(app, compareDatasetVersions,
    async ({ params, caller, query: { from_version: from, to_version: to } }) => {
      const { tenant } = caller
      return ask.versionDifference({ tenant, dataset: await datasetOf(parts, { params, caller }),
        from, to })
    })

  serve(app, listDatasetSplits, async ({ params, caller, query }) => {
    const { tenant } = caller
    return ask.splitsOf({ tenant, dataset: await datasetOf(parts, { params, caller }),
      ...asOfIn(query) })
  })

  serve(app, changeDatasetSplit,
    async ({ params, caller, body: { split_name: split, examples, remove = false } }) => {
      const { tenant } = caller
      const { id: dataset } = await datasetOf(parts, { params, caller })
      const operation = remove ? 'array_remove' : 'array_add'
      const body = Buffer.from(
        JSON.stringify({ example_ids: examples,
          operations: [{ key: 'dataset_split', operation, values: [split] }] }),
      )
      const [changed] = await datasets.change({ tenant, dataset, form: 'metadata', body,
        contentType: 'application/json' })
      return changed?.ids ?? []
    })
}
