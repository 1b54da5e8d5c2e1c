/** Routes with examples in their bodies, which are read in a thread of the platform. */

import type { FastifyRequest } from 'fastify'

import { createExample, createExampleParts, patchExampleParts, createExamples, eraseExamples,
  patchExample, patchExampleMetadata, patchExamples, uploadDataset, uploadExperiment,
  validateExample, validateExamples } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject, jsonOf as jsonOfText } from '../../../json/index.ts'
import { datasetChanged, nameIn, stampOf, transferOf,
  zonedTextUs } from '../../../platform/index.ts'
import type { Dataset, Datasets, ExamplesCall, UploadForm } from '../../../platform/index.ts'
import { sendJson } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { linkBase } from '../links.ts'
import { requireId } from '../path-id.ts'
import type { PlatformParts } from '../platform-route.ts'
import { WaitingBodies } from '../waiting-bodies.ts'
import { datasetOf } from './dataset-of.ts'
import { jsonOf } from './datasets.ts'
import { experimentOf } from './upload-experiment.ts'

/** Adds the routes. The parser of the app must leave bodies as they came. */
export function exampleBodyRoutes(app: App, parts: PlatformParts): void {
  const { datasets, ingest } = parts.platform
  const waiting = new WaitingBodies()
  const held = async <Result>({ caller, body }: FastifyRequest,
    work: (body: Uint8Array) => Promise<Result>): Promise<Result> => {
    const bytes = bytesOf((body ?? new Uint8Array()) as Uint8Array)
    const release = waiting.hold(caller.tenant, bytes.byteLength)
    try {
      return await work(bytes)
    } finally {
      release()
    }
  }
  const change = (request: FastifyRequest, form: ExamplesCall['form'],
    more: Pick<ExamplesCall, 'dataset' | 'id'> = {}) =>
    held(request, (body) =>
      datasets.change({ tenant: request.caller.tenant, form, body,
        contentType: request.headers['content-type'] ?? '', ...more }))

  serve(app, createExample, async (request, reply) => {
    const [changed] = await change(request, 'create')
    const [id] = changed?.ids ?? []
    if (id === undefined) throw new HeddleError('invalid', 'The body has no example.')
    return sendJson(reply, await datasets.example(request.caller.tenant, id, {
      linkBase: linkBase(request),
    }))
  })
  serve(app, createExamples, async (request, reply) => {
    const changed = await change(request, 'create')
    const { tenant } = request.caller
    const texts: string[] = []
    for (const { dataset, ids } of changed) {
      for await (const slice of datasets.examples(tenant, dataset, { ids, limit: ids.length,
        linkBase: linkBase(request) })) {
        texts.push(...slice.texts)
      }
    }
    return sendJson(reply, `[${texts.join(',')}]`)
  })
  const checked = (request: FastifyRequest) =>
    held(request, (body) =>
      ingest.validateExamples({ tenant: request.caller.tenant, body,
        contentType: request.headers['content-type'] ?? '' }, { transfer: transferOf(body) }))
  serve(app, validateExample, async (request, reply) => {
    const [first, ...others] = await checked(request)
    if (first !== undefined && others.length === 0) return sendJson(reply, first)
    throw new HeddleError('invalid', 'The body is no example: lists go to /examples/validate/bulk.')
  })
  serve(app, validateExamples,
    async (request, reply) => sendJson(reply, `[${(await checked(request)).join(',')}]`))
  serve(app, patchExamples, async (request) => {
    const changed = await change(request, 'update')
    return { message: 'The examples are changed.', count: changed.flatMap(({ ids }) => ids).length }
  })
  serve(app, patchExample, async (request) => {
    await change(request, 'update', { id: requireId(request.params.id, 'example') })
    return { message: 'The example is changed.' }
  })

  const changeParts = async (request: FastifyRequest<{ Params: { readonly id: string } }>,
    form: 'createParts' | 'updateParts') => {
    const { id: dataset } = await datasetOf(parts, request)
    const changed = await change(request, form, { dataset })
    const [{ ids, version } = { ids: [], version: null }] = changed
    return { count: ids.length, example_ids: ids,
      as_of: version === null ? null : zonedTextUs(stampOf(version)) }
  }
  serve(app, createExampleParts, (request) => changeParts(request, 'createParts'))
  serve(app, patchExampleParts, (request) => changeParts(request, 'updateParts'))

  serve(app, patchExampleMetadata, async (request) => {
    const asked = idsIn(request.body)
    const { id: dataset } = await datasetOf(parts, request)
    const [changed] = await change(request, 'metadata', { dataset })
    const updated = new Set(changed?.ids)
    return { statuses: asked.map((id) =>
      updated.has(id.toLowerCase())
        ? { id, status: 'UPDATED' }
        : { id, status: 'NOT_FOUND', description: 'The example is not in the dataset.' }
    ) }
  })

  serve(app, eraseExamples, async ({ body: sent, caller: { tenant } }) => {
    const { example_ids: ids = [], hard_delete: hard = false } = smallJson(sent) as {
      readonly example_ids?: readonly string[]
      readonly hard_delete?: boolean
    }
    const body = Buffer.from(JSON.stringify(ids))
    const changed = await datasets.change({ tenant, form: hard ? 'erase' : 'remove', body,
      contentType: 'application/json' })
    return { count: changed.flatMap((each) => each.ids).length }
  })

  serve(app, uploadExperiment,
    (request) => held(request, (body) => experimentOf(parts, request.caller.tenant, body)))

  serve(app, uploadDataset, async (request) => {
    const { caller: { tenant }, headers: { 'content-type': contentType = '' } } = request
    return held(request, async (body) => {
      const form = await ingest.readUpload({ tenant, body, contentType })
      const { id: dataset } = await datasetFor(datasets, tenant, form)
      try {
        await ingest.addUpload({ tenant, dataset, body, contentType }, {
          transfer: transferOf(body),
        })
      } catch (error) {
        // Whatever else went wrong, the file may be sent again.
        if (isRefused(error)) await datasets.delete(tenant, dataset).catch(() => undefined)
        throw error
      }
      return jsonOf(parts, tenant, await datasets.one(tenant, dataset))
    })
  })
}

/** A new dataset, or the empty one that is left of the same file when a server died over it. */
async function datasetFor(datasets: Datasets, tenant: string,
  { name, description, dataType, content: upload }: UploadForm): Promise<Dataset> {
  const change = datasetChanged({ name, description, data_type: dataType })
  const needed = nameIn(name)
  try {
    return await datasets.create(tenant, { ...change, name: needed, upload })
  } catch (error) {
    if (HeddleError.from(error).code !== 'exists') throw error
    const { datasets: [left] } = await datasets.find(tenant, { name: needed, sortBy: 'created',
      descending: true, limit: 1, offset: 0 })
    if (left?.upload !== upload || left.head !== null) throw error
    return left
  }
}

function isRefused(error: unknown): boolean {
  const { code } = HeddleError.from(error)
  return code === 'invalid' || code === 'too_large'
}

/** The ids in a body of a few, which the thread reads too. */
function idsIn(body: unknown): readonly string[] {
  const { example_ids: ids } = smallJson(body)
  return Array.isArray(ids) ? ids.map(String) : []
}

/** Characters of bodies that are read here. */
const smallMax = 1024 * 1024

function smallJson(body: unknown): Readonly<Record<string, unknown>> {
  const bytes = (body ?? new Uint8Array()) as Uint8Array
  if (bytes.byteLength > smallMax) throw new HeddleError('too_large')
  const value = jsonOfText('The body', Buffer.from(bytes).toString())
  return isObject(value) ? value : {}
}

/** The bytes in a buffer of their own, which moves to the thread. */
function bytesOf(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
}
