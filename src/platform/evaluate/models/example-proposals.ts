/** Examples that a model makes up, after the pattern of those that a dataset has. */

import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import { memberOf } from './dialect.ts'
import type { ModelAnswer, ModelCall, Models } from './model.ts'

/** An example as a model proposes it. */
export interface ProposedExample {
  readonly inputs: Readonly<Record<string, unknown>>
  readonly outputs: Readonly<Record<string, unknown>> | null
}

/** A request for new examples: their number, samples to follow, and instructions. */
export interface ProposalRequest {
  readonly tenant: string
  readonly count: number
  /** JSON texts of examples to follow. */
  readonly samples: readonly string[]
  readonly instructions: string
  readonly call: Pick<ModelCall, 'endpoint' | 'secrets'>
}

/** Characters of samples that a model is shown. */
const samplesMax = 64 * 1024

const schema = {
  type: 'object',
  properties: {
    examples: {
      type: 'array',
      items: {
        type: 'object',
        properties: { inputs: { type: 'object' }, outputs: { type: ['object', 'null'] } },
        required: ['inputs', 'outputs'],
      },
    },
  },
  required: ['examples'],
} as const

/** The proposals, as many as were wanted at most. */
export async function proposedExamples(
  { tenant, count, samples, instructions, call }: ProposalRequest,
  models: Pick<Models, 'stream'>,
  signal: AbortSignal,
): Promise<readonly ProposedExample[]> {
  if (samples.length === 0 && instructions === '') {
    throw new HeddleError('invalid', 'The dataset has no examples to follow: add one, or send ' +
      '`instructions`.')
  }
  const content = [
    `Make up ${count} new examples for a dataset. Each has \`inputs\` and \`outputs\`, with the ` +
    'same members as the examples below. Make them different from these and from each other.',
    ...instructions === '' ? [] : [instructions],
    ...modest(samples),
  ].join('\n\n')
  const { json } = await answered(
    models.stream(tenant, { ...call, schema, messages: [{ role: 'user', content }] }, signal),
  )
  const list = memberOf(json, 'examples')
  const examples = Array.isArray(list) ? (list as unknown[]).flatMap(proposed) : []
  if (examples.length > 0) return examples.slice(0, count)
  throw new HeddleError('model_failed', 'The model made up no examples.')
}

/** Streamed, because a long answer takes longer than a connection may be silent. */
async function answered(pieces: ReturnType<Models['stream']>): Promise<ModelAnswer> {
  for await (const piece of pieces) if ('end' in piece) return piece.end
  throw new HeddleError('model_failed', 'The answer of the model is empty.')
}

function proposed(value: unknown): readonly ProposedExample[] {
  const [inputs, outputs] = [memberOf(value, 'inputs'), memberOf(value, 'outputs')]
  return isObject(inputs) ? [{ inputs, outputs: isObject(outputs) ? outputs : null }] : []
}

/** As many as fit, but one at least. */
function modest(samples: readonly string[]): readonly string[] {
  let characters = 0
  return samples.filter((text, index) => {
    characters += text.length
    return index === 0 || characters <= samplesMax
  }).map((text) => text.slice(0, samplesMax))
}
