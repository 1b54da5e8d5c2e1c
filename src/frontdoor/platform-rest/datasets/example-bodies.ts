/** Routes with examples in their bodies, which are read in a thread of the platform. */

import type { FastifyRequest } from 'fastify'

import { createExample, createExampleParts, createExamples, eraseExamples, patchExample,
  patchExampleMetadata, patchExampleParts, patchExamples, validateExample,
  validateExamples } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject, jsonOf as jsonOfText } from '../../../json/index.ts'
import { stampOf, transferOf, zonedTextUs } from '../../../platform/index.ts'
import { sendJson } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { linkBase } from '../links.ts'
import { requireId } from '../path-id.ts'
import type { PlatformParts } from '../platform-route.ts'
import { datasetOf } from './dataset-of.ts'
import { HeldBodies } from './held-bodies.ts'
import { uploadRoutes } from './uploads.ts'

/** Adds the routes. The parser of the app must leave bodies as they came. */
export function exampleBodyRoutes(app: App, parts: PlatformParts): void {
  const bodies = new HeldBodies(parts.platform)
  creationRoutes(app, parts, bodies)
  validationRoutes(app, parts, bodies)
  changeRoutes(app, parts, bodies)
  partRoutes(app, parts, bodies)
  uploadRoutes(app, parts, bodies)
}

function creationRoutes(app: App, { platform: { datasets } }: PlatformParts,
  bodies: HeldBodies): void {
  serve(app, createExample, async (request, reply) => {
    const [changed] = await bodies.change(request, 'create')
    const [id] = changed?.ids ?? []
    if (id === undefined) throw new HeddleError('invalid', 'The body has no example.')
    return sendJson(reply, await datasets.example(request.caller.tenant, id, {
      linkBase: linkBase(request),
    }))
  })
  serve(app, createExamples, async (request, reply) => {
    const changed = await bodies.change(request, 'create')
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
}

function validationRoutes(app: App, { platform }: PlatformParts, bodies: HeldBodies): void {
  const checked = (request: FastifyRequest) =>
    bodies.hold(request, (body) =>
      platform.ingest.validateExamples({ tenant: request.caller.tenant, body,
        contentType: request.headers['content-type'] ?? '' }, { transfer: transferOf(body) }))
  serve(app, validateExample, async (request, reply) => {
    const [first, ...others] = await checked(request)
    if (first !== undefined && others.length === 0) return sendJson(reply, first)
    throw new HeddleError('invalid', 'The body is no example: lists go to /examples/validate/bulk.')
  })
  serve(app, validateExamples,
    async (request, reply) => sendJson(reply, `[${(await checked(request)).join(',')}]`))
}

function changeRoutes(app: App, parts: PlatformParts, bodies: HeldBodies): void {
  serve(app, patchExamples, async (request) => {
    const changed = await bodies.change(request, 'update')
    return { message: 'The examples are changed.', count: changed.flatMap(({ ids }) => ids).length }
  })
  serve(app, patchExample, async (request) => {
    await bodies.change(request, 'update', { id: requireId(request.params.id, 'example') })
    return { message: 'The example is changed.' }
  })
  serve(app, patchExampleMetadata, async (request) => {
    const asked = idsIn(request.body)
    const { id: dataset } = await datasetOf(parts, request)
    const [changed] = await bodies.change(request, 'metadata', { dataset })
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
    const changed = await parts.platform.datasets.change({ tenant, form: hard ? 'erase' : 'remove',
      body, contentType: 'application/json' })
    return { count: changed.flatMap((each) => each.ids).length }
  })
}

function partRoutes(app: App, parts: PlatformParts, bodies: HeldBodies): void {
  const changeParts = async (request: FastifyRequest<{ Params: { readonly id: string } }>,
    form: 'createParts' | 'updateParts') => {
    const { id: dataset } = await datasetOf(parts, request)
    const changed = await bodies.change(request, form, { dataset })
    const [{ ids, version } = { ids: [], version: null }] = changed
    return { count: ids.length, example_ids: ids,
      as_of: version === null ? null : zonedTextUs(stampOf(version)) }
  }
  serve(app, createExampleParts, (request) => changeParts(request, 'createParts'))
  serve(app, patchExampleParts, (request) => changeParts(request, 'updateParts'))
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
