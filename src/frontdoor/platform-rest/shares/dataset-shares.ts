/** Routes that share a dataset, and with which anybody reads one that is shared. */

import { Type } from 'typebox'

import { getDatasetShare, shareDataset, unshareDataset } from '../../../api/index.ts'
import { sendJson } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { Offset, Uuid as UuidText } from '../../schema/json.ts'
import { jsonOf, sendExamples, optionsOf } from '../datasets/index.ts'
import { linkBase } from '../links.ts'
import { requireId } from '../path-id.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { sharedDataset, TokenPath } from './shared-dataset.ts'

const ListExamples = Type.Object({
  id: Type.Optional(Type.Array(UuidText(), { maxItems: 1_000 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
  metadata: Type.Optional(Type.String({ maxLength: 16 * 1024 })),
  filter: Type.Optional(Type.String({ maxLength: 8_192 })),
})

/** Adds the routes below `/api/v1`. */
export function datasetShareRoutes(app: App, parts: PlatformParts): void {
  const { platform } = parts
  const { shares, datasets } = platform
  const asked = async (tenant: string, text: string) => {
    const { id } = await datasets.one(tenant, requireId(text, 'dataset'))
    return { kind: 'dataset', id } as const
  }

  serve(app, shareDataset, async ({ params, caller: { tenant } }) => {
    const object = await asked(tenant, params.id)
    return { dataset_id: object.id, share_token: await shares.make(tenant, object) }
  })

  serve(app, getDatasetShare, async ({ params, caller: { tenant } }, reply) => {
    const object = await asked(tenant, params.id)
    const token = await shares.tokenOf(tenant, object)
    // Fastify sends null as nothing.
    return sendJson(reply, JSON.stringify(
      token === undefined ? null : { dataset_id: object.id, share_token: token },
    ))
  })

  serve(app, unshareDataset, async ({ params, caller: { tenant } }) => {
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
        datasets.examples(tenant, dataset, { ...optionsOf(query), limit, offset,
          linkBase: linkBase(request) }))
    })

  app.get('/public/:token/examples/count',
    platformRoute('public', { params: TokenPath, querystring: ListExamples }),
    async ({ params, query }) => {
      const { tenant, dataset } = await sharedDataset(parts, params.token)
      return platform.query.countExamples({ tenant, dataset, ...optionsOf(query) })
    })
}
