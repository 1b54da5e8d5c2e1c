/** Routes that share a dataset, and with which anybody reads one that is shared. */

import { Type } from 'typebox'

import { HeddleError } from '../../../errors.ts'
import { feedbackJson, sessionJson } from '../../../platform/index.ts'
import type { Dataset } from '../../../platform/index.ts'
import { sendRows } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { Offset, Uuid as UuidText } from '../../schema/json.ts'
import { jsonOf, ListComparisons, QueryExperimentRuns, sendComparisons, sendExamples, sharedRunPage,
  wishOf } from '../datasets/index.ts'
import { feedbackPage } from '../feedback-page.ts'
import { linkBase } from '../links.ts'
import { requireId } from '../path-id.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'

const IdPath = Type.Object({ id: Type.String() })
const TokenPath = Type.Object({ token: Type.String({ maxLength: 100 }) })
const paged = {
  id: Type.Optional(Type.Array(UuidText(), { maxItems: 1_000 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
}
const ListExamples = Type.Object({
  ...paged,
  metadata: Type.Optional(Type.String({ maxLength: 16 * 1024 })),
  filter: Type.Optional(Type.String({ maxLength: 8_192 })),
})
const ListFeedback = Type.Object({
  run: Type.Optional(Type.Array(UuidText(), { maxItems: 1_000 })),
  session: Type.Optional(Type.Array(UuidText(), { maxItems: 10 })),
  key: Type.Optional(Type.Array(Type.String({ maxLength: 180 }), { maxItems: 100 })),
  limit: paged.limit,
  offset: paged.offset,
})
/** Experiments whose feedback is listed: the newest, unless some are named. */
const experimentsMax = 10
const ListSessions = Type.Object({
  ...paged,
  name: Type.Optional(Type.String({ maxLength: 1_000 })),
  name_contains: Type.Optional(Type.String({ maxLength: 1_000 })),
})

/** Adds the routes below `/api/v1`. */
export function datasetShareRoutes(app: App, parts: PlatformParts): void {
  const { platform } = parts
  const { shares, datasets } = platform
  const asked = async (tenant: string, text: string) => {
    const { id } = await datasets.one(tenant, requireId(text, 'dataset'))
    return { kind: 'dataset', id } as const
  }

  app.put('/datasets/:id/share', platformRoute('change', { params: IdPath }),
    async ({ params, caller: { tenant } }) => {
      const object = await asked(tenant, params.id)
      return { dataset_id: object.id, share_token: await shares.make(tenant, object) }
    })

  app.get('/datasets/:id/share', platformRoute('read', { params: IdPath }),
    async ({ params, caller: { tenant } }, reply) => {
      const object = await asked(tenant, params.id)
      const token = await shares.tokenOf(tenant, object)
      // Fastify sends null as nothing.
      return reply.type('application/json').send(JSON.stringify(
        token === undefined ? null : { dataset_id: object.id, share_token: token },
      ))
    })

  app.delete('/datasets/:id/share', platformRoute('change', { params: IdPath }),
    async ({ params, caller: { tenant } }) => {
      await shares.revoke(tenant, await asked(tenant, params.id))
      return { message: 'The dataset is not shared any more.' }
    })

  app.get('/public/:token/datasets', platformRoute('public', { params: TokenPath }),
    async ({ params }) => {
      const { tenant, dataset } = await sharedDataset(parts, params.token)
      return jsonOf(parts, tenant, dataset)
    })

  app.get('/public/:token/examples',
    platformRoute('public', { params: TokenPath, querystring: ListExamples }),
    async (request, reply) => {
      const { params, query, query: { limit = 100, offset = 0 } } = request
      const { tenant, dataset } = await sharedDataset(parts, params.token)
      return sendExamples(reply,
        datasets.examples(tenant, dataset, { ...wishOf(query), limit, offset,
          linkBase: linkBase(request) }))
    })

  app.get('/public/:token/examples/count',
    platformRoute('public', { params: TokenPath, querystring: ListExamples }),
    async ({ params, query }) => {
      const { tenant, dataset } = await sharedDataset(parts, params.token)
      return platform.query.countExamples({ tenant, dataset, ...wishOf(query) })
    })

  app.get('/public/:token/datasets/sessions',
    platformRoute('public', { params: TokenPath, querystring: ListSessions }),
    async ({ params, query }, reply) => {
      const { tenant, dataset } = await sharedDataset(parts, params.token)
      const { id: ids, name, name_contains: part, limit = 100, offset = 0 } = query
      const { projects, total } = await platform.projects.find(tenant, { limit, offset,
        referenceDatasetIds: [dataset.id], sortBy: 'start_time', descending: true,
        ...ids && { ids }, ...name && { name }, ...part && { nameContains: part } })
      reply.header('x-pagination-total', total)
      return sendRows(reply, projects, (each) => JSON.stringify(sessionJson(tenant, each)))
    })
}

/** Adds the routes below `/api/v1` that show what experiments made of a shared dataset. */
export function sharedExperimentRoutes(app: App, parts: PlatformParts): void {
  const { platform } = parts

  app.post('/public/:token/datasets/runs',
    platformRoute('public', { params: TokenPath, body: QueryExperimentRuns }),
    async (request, reply) => {
      const { params, body } = request
      return sharedRunPage(parts, request, reply, {
        ...await sharedDataset(parts, params.token),
        body,
      })
    })

  app.get('/public/:token/datasets/comparative',
    platformRoute('public', { params: TokenPath, querystring: ListComparisons }),
    async ({ params, query }, reply) => {
      const { tenant, dataset } = await sharedDataset(parts, params.token)
      return sendComparisons(platform, reply, { ...query, tenant, dataset: dataset.id })
    })

  app.get('/public/:token/datasets/feedback',
    platformRoute('public', { params: TokenPath, querystring: ListFeedback }),
    async ({ params, query }, reply) => {
      const { tenant, dataset } = await sharedDataset(parts, params.token)
      const { run, session, key, limit = 100, offset = 0 } = query
      const { projects } = await platform.projects.find(tenant, { limit: experimentsMax, offset: 0,
        referenceDatasetIds: [dataset.id], sortBy: 'start_time', descending: true,
        ...session && { ids: session } })
      const rows = projects.length === 0
        ? []
        : await feedbackPage(platform.query, { tenant, projects: projects.map(({ id }) => id),
          limit, offset, ...run && { spans: run }, ...key && { keys: key } })
      return sendRows(reply, rows, (row) => JSON.stringify(feedbackJson(row)))
    })
}

/** Throws `not_found`, also if the token names something else. */
async function sharedDataset({ platform }: PlatformParts, token: string): Promise<
  { readonly tenant: string; readonly dataset: Dataset }
> {
  const { tenant, object } = await platform.shares.find(token)
  const [dataset] = object.kind === 'dataset'
    ? await platform.datasets.get(tenant, [object.id])
    : []
  if (dataset !== undefined) return { tenant, dataset }
  throw new HeddleError('not_found', 'This link names no dataset, or it is gone.')
}
