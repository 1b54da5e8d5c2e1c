/** A call of a model as a span: what it was asked, what it answered, and never a secret. Pure. */

import { segmentOf } from '../../spans/dotted-order.ts'
import type { Uuid } from '../../spans/span.ts'
import type { ModelAnswer, ModelCall, ModelImage } from './model.ts'

/** A call that has ended. */
export interface EndedCall {
  readonly id: Uuid
  /** Name of its project. */
  readonly project: string
  readonly call: ModelCall
  readonly startMs: number
  readonly firstTextMs: number | null
  readonly endMs: number
  /** The answer of the model, or the message of the error that ended the call. */
  readonly ended: { readonly answer: ModelAnswer } | { readonly error: string }
  /** The example of a dataset that it was asked about. */
  readonly example?: Uuid
  /** The member of the outputs that has the text, in place of messages. */
  readonly outputMember?: string
  /** More that it can be found by. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** The body of a batch with the span, for ingest. */
export function spanBody(ended: EndedCall): Uint8Array {
  return Buffer.from(JSON.stringify({ post: [spanOf(ended)], patch: [] }))
}

function spanOf(
  { id, project, call, startMs, firstTextMs, endMs, ended, example, metadata, outputMember }:
    EndedCall,
): object {
  const { endpoint: { dialect, model, url, parameters }, messages, schema, tools, images } = call
  return {
    id,
    trace_id: id,
    dotted_order: segmentOf(startMs * 1_000, id),
    name: model,
    run_type: 'llm',
    session_name: project,
    start_time: textOf(startMs),
    end_time: textOf(endMs),
    // Of images only what they are: traces are read often, and they are long.
    inputs: { messages, ...images && { images: images.map(shownImage) } },
    ...'answer' in ended
      ? { outputs: outputsOf(ended.answer, outputMember) }
      : { error: ended.error },
    ...firstTextMs !== null && { events: [{ name: 'new_token', time: textOf(firstTextMs) }] },
    ...example !== undefined && { reference_example_id: example },
    extra: {
      metadata: { ...metadata, ls_provider: dialect, ls_model_name: model, ls_model_type: 'chat' },
      invocation_params: { model, base_url: withoutQuery(url), ...parameters,
        ...schema && { schema }, ...tools && { tools } },
    },
  }
}

function shownImage({ mediaType, base64 }: ModelImage): object {
  return { media_type: mediaType, bytes: Math.floor(base64.length * 3 / 4) }
}

function outputsOf({ text, json, toolCalls, usage }: ModelAnswer, member?: string): object {
  return {
    ...member === undefined
      ? {
        messages: [{ role: 'assistant', content: text, ...toolCalls && { tool_calls: toolCalls } }],
      }
      : { [member]: text },
    ...json !== undefined && { json },
    ...usage !== null && { usage_metadata: usageJson(usage) },
  }
}

/** The usage as clients spell it. */
export function usageJson(
  { inputTokens, outputTokens }: NonNullable<ModelAnswer['usage']>,
): object {
  return { input_tokens: inputTokens, output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens }
}

/** Some endpoints take their key there. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

function textOf(ms: number): string {
  return new Date(ms).toISOString()
}
