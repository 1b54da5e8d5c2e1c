/** Tokens that recorded calls of models used, as their answers say it in the usual forms. Pure. */

import { isObject, memberOf, textAt, valueIn } from '../../json/index.ts'
import type { RecordedBody, RecordedCall } from '../recording/recording.ts'

/** Tokens of one model. */
export interface ModelTokens {
  /** Empty where neither answer nor request names it. */
  readonly model: string
  readonly input: number
  readonly output: number
  /** Parts of the input: read from a cache, and written to one. */
  readonly cacheRead: number
  readonly cacheCreation: number
}

/** Models that are kept apart, and characters of a name. */
export const modelsMax = 20
const nameMax = 200
/** Tokens of a call above which a number is a mistake. */
const tokensMax = 1_000_000_000

/** The sums of calls by model. Calls whose answers say nothing of tokens are left out. */
export function tokensByModel(calls: readonly RecordedCall[]): readonly ModelTokens[] {
  const sums = new Map<string, ModelTokens>()
  for (const call of calls) {
    const own = tokensOfCall(call)
    if (own === undefined) continue
    const model = sums.has(own.model) || sums.size < modelsMax - 1 ? own.model : ''
    sums.set(model, { ...added(sums.get(model), own), model })
  }
  return [...sums.values()]
}

/** The tokens that the answer of a call says; undefined if it says none. */
export function tokensOfCall(
  { request, answer }: Pick<RecordedCall, 'request' | 'answer'>,
): ModelTokens | undefined {
  const said: Record<string, unknown> = {}
  let model: string | undefined
  for (const document of documentsIn(textOf(answer))) {
    for (const place of [document, memberOf(document, 'message'), memberOf(document, 'response')]) {
      const usage = memberOf(place, 'usage') ?? memberOf(place, 'usageMetadata')
      if (!isObject(usage)) continue
      // A stream says more and more of it.
      for (const [name, value] of Object.entries(usage)) if (value !== null) said[name] = value
      model = textAt(place, 'model') ?? textAt(place, 'modelVersion') ?? model
    }
  }
  const tokens = tokensIn(said)
  return tokens && { ...tokens, model: (model ?? modelAsked(request)).slice(0, nameMax) }
}

function tokensIn(said: Readonly<Record<string, unknown>>): Omit<ModelTokens, 'model'> | undefined {
  const of = (...names: readonly string[]) =>
    names.map((name) => counted(said[name])).find((count) => count !== undefined)
  const input = of('prompt_tokens', 'input_tokens', 'promptTokenCount')
  const output = of('completion_tokens', 'output_tokens', 'candidatesTokenCount')
  if (input === undefined && output === undefined) return undefined
  const details = said['prompt_tokens_details'] ?? said['input_tokens_details']
  // Where these are said so, they are no parts of the input.
  const [read, created] = [of('cache_read_input_tokens') ?? 0,
    of('cache_creation_input_tokens') ?? 0]
  return { input: (input ?? 0) + read + created,
    output: (output ?? 0) + (of('thoughtsTokenCount') ?? 0), cacheCreation: created,
    cacheRead: read || (counted(memberOf(details, 'cached_tokens'))
      ?? of('cachedContentTokenCount') ?? 0) }
}

function counted(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && value as number >= 0 && value as number <= tokensMax
    ? value as number
    : undefined
}

function added(sum: ModelTokens | undefined, more: ModelTokens): ModelTokens {
  if (sum === undefined) return more
  return { model: sum.model, input: sum.input + more.input, output: sum.output + more.output,
    cacheRead: sum.cacheRead + more.cacheRead,
    cacheCreation: sum.cacheCreation + more.cacheCreation }
}

/** The documents with usage in an answer: it is one, a list of them, or a stream with some. */
function* documentsIn(text: string): Generator<unknown, void, void> {
  if (!text.includes('"usage')) return
  const whole = parsed(text)
  if (whole !== undefined) return yield* Array.isArray(whole) ? whole : [whole]
  for (const line of text.split('\n')) {
    if (line.includes('"usage')) yield parsed(line.replace(/^data: ?/, ''))
  }
}

function modelAsked(request: RecordedBody): string {
  return textAt(parsed(textOf(request)), 'model') ?? ''
}

function parsed(text: string): unknown {
  try {
    return valueIn(text)
  } catch {
    return undefined
  }
}

function textOf({ chunks }: RecordedBody): string {
  return Buffer.concat(chunks).toString()
}
