/** A filter of runs, for what a person wants in words: a model writes it, the parser checks it. */

import { HeddleError } from '../../../errors.ts'
import { memberOf } from './dialect.ts'
import type { ChatMessage, ModelCall, Models } from './model.ts'

/** A request for a filter: the words to translate, and the project's feedback keys. */
export interface FilterRequest {
  readonly tenant: string
  /** The words. */
  readonly query: string
  /** Keys of feedback that the project has. */
  readonly feedbackKeys: readonly string[]
  readonly call: Pick<ModelCall, 'endpoint' | 'secrets'>
}

/** The models that write filters, and the check of what they wrote. */
export interface FilterWriters {
  readonly models: Pick<Models, 'ask'>
  /** Message of the error in a filter; null if it can be read. */
  readonly faultOf: (filter: string) => Promise<string | null>
}

const tries = 2
/** Characters of a filter. */
const filterMax = 8_192

const language = `You write filters for runs (spans of traces) in this language:
- Comparisons: eq(field, value), neq, gt, gte, lt, lte, has(field, value) for lists, search(text).
- Combinations: and(a, b, …), or(a, b, …). There is no not().
- Fields: id, name, run_type, status, start_time, end_time, latency, first_token_time, total_tokens,
  prompt_tokens, completion_tokens, total_cost, error, tags, metadata_key, metadata_value,
  feedback_key, feedback_score, thread_id, is_root.
- run_type is one of llm, chain, tool, retriever, prompt, parser, embedding. status is success,
  error or pending. Latency is in seconds. Times are ISO texts. Texts are in double quotes.
- A key and value of metadata: and(eq(metadata_key, "user"), eq(metadata_value, "42")).
- A score: and(eq(feedback_key, "correctness"), lt(feedback_score, 0.5)).
Examples: eq(run_type, "llm") · and(eq(status, "error"), gt(latency, 5)) · has(tags, "beta") ·
search("refund"). Answer with the filter only.`

const schema = {
  type: 'object',
  properties: { filter: { type: 'string' } },
  required: ['filter'],
  additionalProperties: false,
} as const

/** The filter. A model that writes none that can be read gets one more try, with what is wrong. */
export async function filterFor({ tenant, query, feedbackKeys, call }: FilterRequest,
  { models, faultOf }: FilterWriters, signal: AbortSignal): Promise<string> {
  const keys = feedbackKeys.length === 0
    ? ''
    : `\nKeys of feedback: ${JSON.stringify(feedbackKeys)}`
  const messages: ChatMessage[] = [{ role: 'system', content: language + keys }, { role: 'user',
    content: query }]
  let fault = ''
  for (let tried = 0; tried < tries; tried++) {
    const { json } = await models.ask(tenant, { ...call, messages, schema }, signal)
    const filter = memberOf(json, 'filter')
    const text = typeof filter === 'string' ? filter.slice(0, filterMax) : ''
    const wrong = text === '' ? 'It has no filter.' : await faultOf(text)
    if (wrong === null) return text
    fault = wrong
    messages.push({ role: 'assistant', content: JSON.stringify({ filter: text }) }, { role: 'user',
      content: `That cannot be read: ${wrong} Write it anew.` })
  }
  throw new HeddleError('model_failed', `The model wrote no filter that can be read: ${fault}`)
}
