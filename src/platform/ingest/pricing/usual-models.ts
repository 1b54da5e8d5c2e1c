/** Finds the usual price of a model by its name, however a provider or a host writes it. Pure. */

import type { ModelNames } from './model-names.ts'
import { asOf, table } from './usual-prices.ts'

/** A usual price in US dollars for a million tokens. Null: as the input. */
export interface UsualPrice {
  readonly provider: string
  readonly name: string
  readonly input: number
  readonly cachedInput: number | null
  readonly cacheWrite: number | null
  readonly output: number
}

/** The built-in list, and the day on which its prices were known. */
export const usualPrices: { readonly asOf: string; readonly prices: readonly UsualPrice[] } = {
  asOf,
  prices: table.trim().split('\n').map(priceOf),
}

const byName = Map.groupBy(usualPrices.prices, ({ name }) => name)

/** Providers whose models run on machines of one's own, for which nobody is billed. */
const local: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'llamacpp', 'llama_cpp', 'vllm'])

/** Members of the parameters of a call that may name its model. */
const namesOf = ['model', 'model_name', 'model_id', 'model_path', 'endpoint_name']

/** A region of a cloud, and the maker of a model, as some hosts write them before the name. */
const prefix =
  /^(?:(?:us|eu|apac|global|jp|au)\.)?(?:anthropic|meta|amazon|mistral|deepseek|cohere|openai)\./
/** Versions and days, as providers add them to a name. */
const suffixes = [/-v\d+(?::\d+)?$/, /[-@]\d{8}$/, /-\d{4}-\d{2}-\d{2}$/,
  /[-:@](?:latest|default)$/, /-00\d$/, /-exp$/, /-preview(?:-\d{2}-\d{2}(?:\d{2})?)?$/]
/** Suffixes that are taken from one name. */
const suffixesMax = 4

/** The usual price of the model with these names; undefined if none is known. */
export function usualPriceOf({ model, provider, invocation }: ModelNames): UsualPrice | undefined {
  if (provider !== null && local.has(provider)) return undefined
  const name = model ?? namesOf.map((each) => invocation[each]).find((each) => each !== undefined)
  if (name === undefined) return undefined
  for (const form of formsOf(name)) {
    const found = byName.get(form)
    if (found !== undefined) return found.find((each) => each.provider === provider) ?? found[0]
  }
  return undefined
}

/** Forms of a name that are looked for, the most exact one first. */
function* formsOf(name: string): Generator<string> {
  const whole = name.trim().toLowerCase()
  let plain = whole.slice(whole.lastIndexOf('/') + 1).replace(prefix, '')
  yield whole
  for (let left = suffixesMax; left >= 0; left--) {
    yield plain
    // Some hosts write `claude-sonnet-4.5`.
    if (plain.startsWith('claude')) yield plain.replaceAll('.', '-')
    const found = suffixes.find((each) => each.test(plain))
    if (found === undefined) return
    plain = plain.replace(found, '')
  }
}

function priceOf(row: string): UsualPrice {
  const [provider, name, input, cachedInput, cacheWrite, output] = row.split(/ +/)
  const own = (text: string | undefined) => (text === '-' ? null : Number(text))
  return { provider: provider!, name: name!, input: Number(input), cachedInput: own(cachedInput),
    cacheWrite: own(cacheWrite), output: Number(output) }
}
