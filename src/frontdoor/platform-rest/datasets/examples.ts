/** Routes that read examples, or remove them. */

import { countExamples, deleteExample, deleteExampleOf, deleteExamples, getExample,
  listExamples } from '../../../api/index.ts'
import type { Query } from '../../../api/index.ts'
import type { FastifyReply } from 'fastify'

import { HeddleError } from '../../../errors.ts'
import { metadataSought } from '../../../platform/index.ts'
import type { ExamplesSlice, ExamplesRequest } from '../../../platform/index.ts'
import { sendJson, sendParts } from '../../http/list-reply.ts'
import type { ListPart } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireSimple } from '../../schema/validation.ts'
import { linkBase } from '../links.ts'
import { requireId } from '../path-id.ts'
import type { PlatformParts } from '../platform-route.ts'
import { asOfIn, datasetOf } from './dataset-of.ts'

/** Adds the routes that list, count, read and delete examples. */
export function exampleRoutes(app: App, parts: PlatformParts): void {
  const { datasets, query: ask } = parts.platform
  const remove = (tenant: string, form: 'remove' | 'erase', ids: readonly string[]) =>
    datasets.change({ tenant, form, body: Buffer.from(JSON.stringify(ids)),
      contentType: 'application/json' })

  serve(app, listExamples, async (request, reply) => {
    const { query, caller: { tenant } } = request
    const { limit = 100, offset = 0, order = '' } = query
    const options = { ...optionsOf(query), limit, offset, linkBase: linkBase(request),
      newestFirst: order.startsWith('recent'), shown: shownIn(query.select) }
    if (query.dataset !== undefined) {
      return sendExamples(reply, datasets.examples(tenant, query.dataset, options))
    }
    const { id: ids = noDataset(), ...others } = query
    return sendExamples(reply, ofAny(parts, tenant, ids, { ...options, ...optionsOf(others) }))
  })

  serve(app, countExamples, async ({ query, caller: { tenant } }) => {
    const dataset = await datasets.one(tenant, query.dataset ?? noDataset())
    return ask.countExamples({ tenant, dataset, ...optionsOf(query) })
  })

  serve(app, getExample, async (request, reply) => {
    const { params, query, caller: { tenant } } = request
    return sendJson(reply, await datasets.example(tenant, requireId(params.id, 'example'), {
      ...asOfIn(query),
      linkBase: linkBase(request),
    }))
  })

  serve(app, deleteExample, async ({ params, caller: { tenant } }) => {
    await remove(tenant, 'remove', [requireId(params.id, 'example')])
    return { message: 'The example is deleted.' }
  })

  serve(app, deleteExamples, async ({ query, caller: { tenant } }) => {
    await remove(tenant, 'remove', query.example_ids)
    return { message: 'The examples are deleted.' }
  })

  serve(app, deleteExampleOf, async (request) => {
    const { caller: { tenant }, params } = request
    const { id: dataset } = await datasetOf(parts, request)
    await datasets.change({ tenant, dataset, form: 'remove', contentType: 'application/json',
      body: Buffer.from(JSON.stringify([requireId(params.example, 'example')])) })
  })
}

/** The conditions of a query. Throws `invalid` for metadata that take too long to look for. */
export function optionsOf(
  query: Query<typeof countExamples>,
): Omit<ExamplesRequest, 'limit' | 'offset'> {
  const { id: ids, splits, metadata, full_text_contains: sought, filter } = query
  if (metadata !== undefined) requireSimple('metadata', metadataSought(metadata))
  return {
    ...asOfIn(query),
    ...ids && { ids },
    ...splits && { splits },
    ...metadata !== undefined && { metadataJson: metadata },
    ...sought && { texts: sought },
    ...filter !== undefined && { filter },
  }
}

/** Sends slices as a list, each when it is its turn. */
export function sendExamples(reply: FastifyReply,
  slices: AsyncIterable<ExamplesSlice>): Promise<FastifyReply> {
  return sendParts(reply, partsOf(slices))
}

async function* partsOf(
  slices: AsyncIterable<ExamplesSlice>,
): AsyncGenerator<ListPart, void, void> {
  for await (const { texts, next } of slices) yield { texts, isLast: next === undefined }
  yield { texts: [], isLast: true }
}

/** Examples of whatever dataset. */
async function* ofAny({ platform: { datasets, query } }: PlatformParts, tenant: string,
  ids: readonly string[], options: ExamplesRequest): AsyncGenerator<ExamplesSlice, void, void> {
  const named = await Promise.all(ids.map((id) => query.datasetsOfExample({ tenant, id })))
  let left = options.limit
  for (const dataset of await datasets.get(tenant, [...new Set(named.flat())])) {
    for await (const slice of datasets.examples(tenant, dataset, { ...options, ids,
      limit: left })) {
      left -= slice.texts.length
      yield { ...slice, next: { at: 0, skip: 0 } }
    }
    if (left <= 0) return
  }
}

/** Inputs are always there. Without a selection, all but the links to attachments. */
function shownIn(select: readonly string[] | undefined) {
  const shows = (name: string) => select?.includes(name) ?? name !== 'attachment_urls'
  return { outputs: shows('outputs'), metadata: shows('metadata'), files: shows('attachment_urls') }
}

function noDataset(): never {
  throw new HeddleError('invalid', 'dataset: say which one, or ids of examples.')
}
