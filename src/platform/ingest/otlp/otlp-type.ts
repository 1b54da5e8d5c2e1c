/** The type of a run, from the words of each convention for spans. Pure. */

import { takenText, textAt } from './otlp-attributes.ts'
import type { SpanAttributes } from './otlp-attributes.ts'

/** Type of a run for each operation of a generative model. */
const operations: Readonly<Record<string, string>> = { chat: 'llm', completion: 'llm',
  text_completion: 'llm', generate_content: 'llm', embedding: 'embedding', embeddings: 'embedding',
  execute_tool: 'tool', invoke_agent: 'chain', create_agent: 'chain' }
const kinds: Readonly<Record<string, string>> = { tool: 'tool', llm: 'llm', retriever: 'retriever',
  generation: 'llm', embedding: 'embedding', workflow: 'chain', task: 'chain', agent: 'chain',
  chain: 'chain' }

/** Words that tell a type, with what their values mean; the first that a span has counts. */
const typeWords: readonly (readonly [string, (value: string) => string | undefined])[] = [
  ['gen_ai.operation.name', (value) => operations[value]],
  ['llm.request.type', (value) => operations[value]],
  ['traceloop.llm.request.type', (value) => value === 'embedding' ? value : 'llm'],
  ...['openinference.span.kind', 'traceloop.span.kind', 'langfuse.observation.type']
    .map((word) => [word, (value: string) => kinds[value.toLowerCase()]] as const),
  ['ai.operationId', typeOfStep],
]

/** A span with one of them that says no operation and no kind is a call of a model. */
const modelWords = ['gen_ai.request.model', 'gen_ai.response.model', 'llm.model_name',
  'gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt']

/** The type of a span. A word that says more than the type does is not taken. */
export function typeOf(attributes: SpanAttributes): string {
  const own = takenText(attributes, 'langsmith.span.kind')
  if (own !== undefined) return own.toLowerCase()
  for (const [word, mean] of typeWords) {
    const value = textAt(attributes, word)
    if (value === undefined) continue
    const type = mean(value) ?? 'chain'
    if (type === value.toLowerCase()) attributes.take(word)
    return type
  }
  if (attributes.has('gen_ai.tool.name')) return 'tool'
  if (attributes.has('llm.prompt_template.variables')) return 'prompt'
  return isModelCall(attributes) ? 'llm' : 'chain'
}

/** A step of the AI SDK: only `ai.….doGenerate` and its like call a model, others are around it. */
function typeOfStep(step: string): string {
  if (/\.do(?:Generate|Stream)$/.test(step)) return 'llm'
  if (step.endsWith('.doEmbed')) return 'embedding'
  return step === 'ai.toolCall' ? 'tool' : 'chain'
}

/** Agents sum up the tokens of their calls: theirs would count twice. */
function isModelCall(attributes: SpanAttributes): boolean {
  return modelWords.some((word) => attributes.has(word)) &&
    !attributes.has('gen_ai.agent.name') && !attributes.has('agent_name')
}
