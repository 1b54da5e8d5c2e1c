/** Routes of the versions of datasets: their tags, their splits, and how they differ. */

import { Type } from 'typebox'

import { HeddleError } from '../../../errors.ts'
import { versionName } from '../../../platform/index.ts'
import type { Dataset } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { Offset, Uuid as UuidText } from '../../schema/json.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { asOfField, asOfIn, datasetOf, IdPath } from './dataset-of.ts'

const version = () => Type.String({ minLength: 1, maxLength: 255 })
const PutTag = Type.Object({ as_of: version(), tag: version() })
const ReadVersion = Type.Object({ ...asOfField, tag: Type.Optional(version()) })
const ListVersions = Type.Object({
  search: Type.Optional(Type.String({ maxLength: 255 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
})
const Difference = Type.Object({ from_version: version(), to_version: version() })
const ReadSplits = Type.Object(asOfField)
const PutSplit = Type.Object({
  split_name: Type.String({ minLength: 1, maxLength: 255 }),
  examples: Type.Array(UuidText(), { maxItems: 10_000 }),
  remove: Type.Optional(Type.Boolean()),
})

/** Versions that are looked through for those of a page. */
const versionsMax = 1_000

/** Adds the routes below `/api/v1`. */
export function datasetVersionRoutes(app: App, parts: PlatformParts): void {
  const { datasets, query: ask } = parts.platform
  /** The version that a time or a tag means. Throws `not_found`. */
  const versionOf = async (tenant: string, dataset: Dataset, asOf: string) => {
    const found = await ask.datasetVersion({ tenant, dataset, asOf })
    if (found !== null) return found
    throw new HeddleError('not_found', 'Dataset version not found.')
  }

  app.put('/datasets/:id/tags', platformRoute('change', { params: IdPath, body: PutTag }),
    async ({ params, caller, body: { as_of: asOf, tag } }) => {
      const { tenant } = caller
      if (tag === 'latest') throw new HeddleError('invalid', 'tag: latest is the newest version.')
      const dataset = await datasetOf(parts, { params, caller })
      const named = await versionOf(tenant, dataset, asOf)
      return versionName(await datasets.tag(tenant, dataset.id, tag, named), named)
    })

  app.get('/datasets/:id/version',
    platformRoute('read', { params: IdPath, querystring: ReadVersion }),
    async ({ params, caller, query: { as_of: asOf, tag } }) => {
      const { tenant } = caller
      const dataset = await datasetOf(parts, { params, caller })
      if (tag !== undefined && tag !== 'latest' && !Object.hasOwn(dataset.tags, tag)) {
        throw new HeddleError('not_found', `Dataset version ${JSON.stringify(tag)} not found.`)
      }
      return versionName(dataset, await versionOf(tenant, dataset, tag ?? asOf ?? 'latest'))
    })

  app.get('/datasets/:id/versions',
    platformRoute('read', { params: IdPath, querystring: ListVersions }),
    async ({ params, caller, query: { limit = 100, offset = 0, search } }) => {
      const { tenant } = caller
      const dataset = await datasetOf(parts, { params, caller })
      if (search === undefined) return ask.datasetVersions({ tenant, dataset, limit, offset })
      const all = await ask.datasetVersions({ tenant, dataset, limit: versionsMax, offset: 0 })
      return all.filter(({ tags }) => tags.some((tag) => tag.includes(search)))
        .slice(offset, offset + limit)
    })

  app.get('/datasets/:id/versions/diff',
    platformRoute('read', { params: IdPath, querystring: Difference }),
    async ({ params, caller, query: { from_version: from, to_version: to } }) => {
      const { tenant } = caller
      return ask.versionDifference({ tenant, dataset: await datasetOf(parts, { params, caller }),
        from, to })
    })

  app.get('/datasets/:id/splits',
    platformRoute('read', { params: IdPath, querystring: ReadSplits }),
    async ({ params, caller, query }) => {
      const { tenant } = caller
      return ask.splitsOf({ tenant, dataset: await datasetOf(parts, { params, caller }),
        ...asOfIn(query) })
    })

  app.put('/datasets/:id/splits', platformRoute('change', { params: IdPath, body: PutSplit }),
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
