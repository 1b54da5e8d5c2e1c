/** Routes that read examples, or remove them. */

import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Static } from 'typebox'

import { HeddleError } from '../../../errors.ts'
import { metadataSought } from '../../../platform/index.ts'
import type { ExamplesSlice, ExamplesRequest } from '../../../platform/index.ts'
import { sendJson, sendParts } from '../../http/list-reply.ts'
import type { ListPart } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { Offset, Uuid as UuidText } from '../../schema/json.ts'
import { requireSimple } from '../../schema/validation.ts'
import { linkBase } from '../links.ts'
import { requireId } from '../path-id.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { asOfField, asOfIn, datasetOf, IdPath } from './dataset-of.ts'

const texts = (maxItems: number) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 1_000 }), { maxItems, 'x-verbatim': true }),
  )
const filterFields = {
  ...asOfField,
  dataset: Type.Optional(UuidText()),
  id: Type.Optional(Type.Array(UuidText(), { maxItems: 1_000 })),
  splits: texts(100),
  metadata: Type.Optional(Type.String({ maxLength: 16 * 1024 })),
  full_text_contains: texts(20),
  filter: Type.Optional(Type.String({ maxLength: 8_192 })),
}
const ListExamples = Type.Object({
  ...filterFields,
  select: texts(20),
  order: Type.Optional(Type.String({ maxLength: 30 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  offset: Type.Optional(Offset()),
})
const CountExamples = Type.Object(filterFields)
const ReadExample = Type.Object({ ...asOfField, dataset: Type.Optional(UuidText()) })
const DeleteExamples = Type.Object({
  example_ids: Type.Array(UuidText(), { minItems: 1, maxItems: 1_000 }),
})

/** Adds the routes below `/api/v1`. */
export function exampleRoutes(app: App, parts: PlatformParts): void {
  const { datasets, query: ask } = parts.platform
  const remove = (tenant: string, form: 'remove' | 'erase', ids: readonly string[]) =>
    datasets.change({ tenant, form, body: Buffer.from(JSON.stringify(ids)),
      contentType: 'application/json' })

  app.get('/examples', platformRoute('read', { querystring: ListExamples }),
    async (request, reply) => {
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

  app.get('/examples/count', platformRoute('read', { querystring: CountExamples }),
    async ({ query, caller: { tenant } }) => {
      const dataset = await datasets.one(tenant, query.dataset ?? noDataset())
      return ask.countExamples({ tenant, dataset, ...optionsOf(query) })
    })

  app.get('/examples/:id', platformRoute('read', { params: IdPath, querystring: ReadExample }),
    async (request, reply) => {
      const { params, query, caller: { tenant } } = request
      return sendJson(reply, await datasets.example(tenant, requireId(params.id, 'example'), {
        ...asOfIn(query),
        linkBase: linkBase(request),
      }))
    })

  app.delete('/examples/:id', platformRoute('change', { params: IdPath }),
    async ({ params, caller: { tenant } }) => {
      await remove(tenant, 'remove', [requireId(params.id, 'example')])
      return { message: 'The example is deleted.' }
    })

  app.delete('/examples', platformRoute('change', { querystring: DeleteExamples }),
    async ({ query, caller: { tenant } }) => {
      await remove(tenant, 'remove', query.example_ids)
      return { message: 'The examples are deleted.' }
    })

  app.delete('/platform/datasets/:id/examples/:example', platformRoute('change', {
    params: Type.Object({ id: Type.String(), example: Type.String() }),
  }), async (request, reply) => {
    const { caller: { tenant }, params } = request
    const { id: dataset } = await datasetOf(parts, request)
    await datasets.change({ tenant, dataset, form: 'remove', contentType: 'application/json',
      body: Buffer.from(JSON.stringify([requireId(params.example, 'example')])) })
    return reply.code(204).send()
  })
}

/** The conditions of a query. Throws `invalid` for metadata that take too long to look for. */
export function optionsOf(
  query: Static<typeof CountExamples>,
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
