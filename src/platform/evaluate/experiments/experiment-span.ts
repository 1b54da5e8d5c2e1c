/** A run of an experiment as a span, and what an assistant is sent and gives back. Pure. */

import { isObject } from '../../../json/index.ts'
import { segmentOf } from '../../spans/dotted-order.ts'
import type { Uuid } from '../../spans/span.ts'

/** A run of an assistant in an experiment. */
export interface AssistantSpan {
  readonly id: Uuid
  /** Id of its project. */
  readonly project: Uuid
  readonly example: Uuid
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly inputs: unknown
  readonly outputs: unknown
  readonly error: string | null
  readonly metadata: Readonly<Record<string, unknown>>
}

/** The body of a batch with the span, for ingest. */
export function assistantSpanBody(
  { id, project, example, name, startMs, endMs, inputs, outputs, error, metadata }: AssistantSpan,
): Uint8Array {
  const span = { id, trace_id: id, dotted_order: segmentOf(startMs * 1_000, id), name,
    run_type: 'chain', session_id: project, reference_example_id: example,
    start_time: textOf(startMs), end_time: textOf(Math.max(endMs, startMs + 1)), inputs,
    ...error === null ? { outputs } : { error }, extra: { metadata } }
  return Buffer.from(JSON.stringify({ post: [span], patch: [] }))
}

/** The input of an assistant: a member of the inputs as a message, or all of them. */
export function inputOf(inputs: unknown, member: string | null): unknown {
  if (member === null) return inputs
  const value = isObject(inputs) ? inputs[member] : undefined
  const content = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  return { messages: [{ role: 'user', content }] }
}

/** The outputs of a run: the text of its last message as a member, or the values of its state. */
export function outputsOf(values: unknown, member: string | null): object {
  if (member === null) return isObject(values) ? values : { output: values }
  const messages = isObject(values) && Array.isArray(values.messages)
    ? values.messages as readonly unknown[]
    : []
  return { [member]: textOfMessage(messages.at(-1)) }
}

/** Usage of the messages that an assistant wrote, and their model if it is one. */
export function usageOfMessages(values: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(values) || !Array.isArray(values.messages)) return {}
  let [input, output, calls] = [0, 0, 0]
  const [models, providers] = [new Set<string>(), new Set<string>()]
  for (const message of values.messages as readonly unknown[]) {
    const usage = isObject(message) ? message['usage_metadata'] : undefined
    if (!isObject(message) || !isObject(usage)) continue
    calls++
    input += countOf(usage['input_tokens'])
    output += countOf(usage['output_tokens'])
    const said = message['response_metadata']
    if (!isObject(said)) continue
    if (typeof said['model_name'] === 'string') models.add(said['model_name'])
    if (typeof said['model_provider'] === 'string') providers.add(said['model_provider'])
  }
  if (calls === 0) return {}
  return {
    usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output },
    // Two models have two prices.
    ...models.size === 1 && { ls_model_name: [...models][0] },
    ...models.size === 1 && providers.size === 1 && { ls_provider: [...providers][0] },
  }
}

function textOfMessage(message: unknown): string {
  const content = isObject(message) ? message['content'] : undefined
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as readonly unknown[])
    .map((part) => isObject(part) && typeof part['text'] === 'string' ? part['text'] : '').join('')
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

function textOf(ms: number): string {
  return new Date(ms).toISOString()
}
