/** Routes whose answer a model of the workspace writes. */

import { Type } from 'typebox'

import { filterFor, proposedExamples } from '../../../platform/index.ts'
import { leftSignal } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { Json, Nullable, Uuid } from '../../schema/json.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { endpointFor, Secrets } from './model-call.ts'

/** Examples that a model is shown. */
const samplesMax = 20

const GenerateQuery = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 4_000 }),
  feedback_keys: Type.Optional(
    Nullable(Type.Array(Type.String({ maxLength: 180 }), { maxItems: 100 })),
  ),
  model: Type.Optional(Json()),
  secrets: Type.Optional(Nullable(Secrets())),
})

const ById = Type.Object({ id: Uuid() })
const Generate = Type.Object({
  num_examples: Type.Integer({ minimum: 1, maximum: 50 }),
  example_ids: Type.Optional(Nullable(Type.Array(Uuid(), { maxItems: samplesMax }))),
  instructions: Type.Optional(Nullable(Type.String({ maxLength: 8_000 }))),
  model: Type.Optional(Json()),
  secrets: Type.Optional(Nullable(Secrets())),
})

/** Adds the routes below `/api/v1`. */
export function generateRoutes(app: App, { platform }: PlatformParts): void {
  app.post('/runs/generate-query', platformRoute('change', { body: GenerateQuery }),
    async ({ body, caller: { tenant } }, reply) => {
      const { query, feedback_keys: feedbackKeys, model, secrets } = body
      const endpoint = await endpointFor(platform, tenant, model)
      const filter = await filterFor({ tenant, query, feedbackKeys: feedbackKeys ?? [],
        call: { endpoint, ...secrets && { secrets } } }, { models: platform.models,
        faultOf: (text) => platform.query.validate({ filter: text }) }, leftSignal(reply))
      return { filter, feedback_urls: {} }
    })
  app.post('/datasets/:id/generate', platformRoute('change', { params: ById, body: Generate }),
    async ({ params, body, caller: { tenant } }, reply) => {
      const { num_examples: count, example_ids: ids, instructions, model, secrets } = body
      const dataset = await platform.datasets.one(tenant, params.id)
      const endpoint = await endpointFor(platform, tenant, model)
      const samples: string[] = []
      const slices = platform.datasets.examples(tenant, dataset, { limit: samplesMax,
        ...ids && { ids }, shown: { outputs: true, metadata: false, files: false } })
      for await (const { texts } of slices) samples.push(...texts.map(sampleOf))
      const examples = await proposedExamples({ tenant, count, samples,
        instructions: instructions ?? '', call: { endpoint, ...secrets && { secrets } } },
        platform.models, leftSignal(reply))
      return { examples }
    })
}

/** Parts of an example that a model needs to see: its inputs and outputs, as JSON. */
function sampleOf(text: string): string {
  const { inputs, outputs } = JSON.parse(text) as Readonly<Record<'inputs' | 'outputs', unknown>>
  return JSON.stringify({ inputs, outputs })
}
