/** Routes whose answer a model of the workspace writes. */

import { proposeExamples, proposeFilter } from '../../../api/index.ts'
import { endpointFor, filterFor, proposedExamples } from '../../../platform/index.ts'
import { leftSignal } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Examples that a model is shown. */
const samplesMax = 20

/** Adds the routes below `/api/v1`. */
export function generateRoutes(app: App, { platform }: PlatformParts): void {
  serve(app, proposeFilter, async ({ body, caller: { tenant } }, reply) => {
    const { query, feedback_keys: feedbackKeys, model, secrets } = body
    const endpoint = await endpointFor(platform, tenant, model)
    const filter = await filterFor({ tenant, query, feedbackKeys: feedbackKeys ?? [],
      call: { endpoint, ...secrets && { secrets } } }, { models: platform.models,
      faultOf: (text) => platform.query.validate({ filter: text }) }, leftSignal(reply))
    return { filter, feedback_urls: {} }
  })
  serve(app, proposeExamples, async ({ params, body, caller: { tenant } }, reply) => {
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
