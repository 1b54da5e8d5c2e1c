/** Routes that share a dataset, and with which anybody reads one that is shared. */

import { countSharedExamples, getDatasetShare, getSharedDataset, listSharedExamples, shareDataset,
  unshareDataset } from '../../../api/index.ts'
import { sendJson } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { jsonOf, sendExamples, optionsOf } from '../datasets/index.ts'
import { linkBase } from '../links.ts'
import { requireId } from '../path-id.ts'
import type { PlatformParts } from '../platform-route.ts'
import { sharedDataset } from './shared-dataset.ts'

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

  serve(app, getSharedDataset, async ({ params }) => {
    const { tenant, dataset } = await sharedDataset(parts, params.token)
    return jsonOf(parts, tenant, dataset)
  })

  serve(app, listSharedExamples, async (request, reply) => {
    const { params, query, query: { limit = 100, offset = 0 } } = request
    const { tenant, dataset } = await sharedDataset(parts, params.token)
    return sendExamples(reply,
      datasets.examples(tenant, dataset, { ...optionsOf(query), limit, offset,
        linkBase: linkBase(request) }))
  })

  serve(app, countSharedExamples, async ({ params, query }) => {
    const { tenant, dataset } = await sharedDataset(parts, params.token)
    return platform.query.countExamples({ tenant, dataset, ...optionsOf(query) })
  })
}
