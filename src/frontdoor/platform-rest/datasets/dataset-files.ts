/** Routes that give a dataset as a file. It is sent as it is read, however long it is. */

import { Readable } from 'node:stream'

import type { FastifyReply, FastifyRequest } from 'fastify'

import { readDatasetCsv, readDatasetLines, readFineTuningLines } from '../../../api/index.ts'
import type { Dataset, ExamplesRequest } from '../../../platform/index.ts'
import { csvLine } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'
import { asOfIn, datasetOf } from './dataset-of.ts'

const everything = { outputs: true, metadata: true, files: false }

/** Adds the routes below `/api/v1`. */
export function datasetFileRoutes(app: App, parts: PlatformParts): void {
  const { datasets, query: ask } = parts.platform
  /** Texts of examples of one version, also if others are published meanwhile. */
  const send = async ({ caller: { tenant } }: FastifyRequest, reply: FastifyReply,
    { type, dataset, first = '', end = '', ...options }: FileRequest) => {
    async function* texts() {
      if (first !== '') yield first
      const all = datasets.examples(tenant, dataset, { ...options, limit: Infinity,
        shown: everything })
      for await (const slice of all) yield slice.texts.map((text) => text + end).join('')
    }
    return reply.type(type).header('content-disposition', 'attachment')
      .send(Readable.from(texts()))
  }

  serve(app, readDatasetCsv, async (request, reply) => {
    const dataset = await datasetOf(parts, request)
    const options = asOfIn(request.query)
    const names = await ask.namesOfExamples({ tenant: request.caller.tenant, dataset, ...options })
    return send(request, reply, { type: 'text/csv; charset=utf-8', dataset, ...options,
      first: csvLine([...names.inputs, ...names.outputs]), lines: { kind: 'csv', ...names } })
  })
  serve(app, readDatasetLines,
    async (request, reply) =>
      send(request, reply, { type: 'application/jsonl', end: '\n',
        dataset: await datasetOf(parts, request), ...asOfIn(request.query) }))
  serve(app, readFineTuningLines,
    async (request, reply) =>
      send(request, reply, { type: 'application/jsonl', lines: { kind: 'openai' },
        dataset: await datasetOf(parts, request), ...asOfIn(request.query) }))
}

interface FileRequest extends Pick<ExamplesRequest, 'asOf' | 'lines'> {
  readonly type: string
  readonly dataset: Dataset
  readonly first?: string
  /** Text that follows each text; empty by default. */
  readonly end?: string
}
