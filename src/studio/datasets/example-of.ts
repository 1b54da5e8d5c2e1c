/** An example of a span: its inputs, and its outputs as those that should come out. Pure. */

import type { ExampleBody } from '../../api/index.ts'
import type { Json, JsonObject } from '../api/client.ts'
import type { Span } from '../api/platform/traces.ts'

/** Body of a new example with the inputs and outputs of a span. */
export const exampleOf = (dataset: string,
  { id, inputs, outputs }: Pick<Span, 'id' | 'inputs' | 'outputs'>, split = 'base'
): ExampleBody & { readonly dataset_id: string } => ({
  dataset_id: dataset,
  inputs: objectOf('input', inputs),
  outputs: outputs === null ? null : objectOf('output', outputs),
  metadata: {},
  split: [split],
  source_run_id: id,
})

function objectOf(name: string, value: Json): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value as JsonObject
    : { [name]: value }
}
