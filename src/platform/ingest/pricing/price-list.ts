/** Cost of a call of a model by the prices of its workspace. */

import { setImmediate } from 'node:timers/promises'

import { LRUCache } from '../../../../cluster/index.ts'
import { isObject } from '../../../json/index.ts'
import { linearPattern } from '../../../settings/index.ts'
import type { PriceJson } from './prices.ts'
import type { PriceModel } from '../../spans/model-usage.ts'
import { readTimeUs } from '../../spans/time.ts'
import { knownKinds } from '../../spans/token-kinds.ts'
import type { ByKind } from '../../spans/token-kinds.ts'
import { dollars } from '../../spans/usage.ts'
import type { Usage } from '../../spans/usage.ts'
import type { ModelNames } from './model-names.ts'
import { patternWeight, patternWeightMax } from './pattern-weight.ts'
import { usualPriceOf } from './usual-models.ts'
import type { UsualPrice } from './usual-models.ts'

/** Costs of one token, in dollars, from a time on. */
interface Prices {
  readonly prompt: TokenPrice
  readonly completion: TokenPrice
  readonly fromUs: number
}

/** A price that can be matched. */
interface Price extends Prices {
  readonly pattern: RegExp
  readonly weight: number
  readonly path: readonly string[]
  readonly provider: string | null
}

interface TokenPrice {
  readonly cost: number
  /** Costs of kinds of tokens, such as `cache_read`. */
  readonly details: Readonly<Record<string, number>>
}

/** A call of a model. */
export interface PricedCall {
  readonly names: ModelNames
  readonly startUs: number
  readonly usage: Usage
}

/** Weight of all patterns that are tried. It bounds the time to look up a name. */
const weightMax = 16 * 1024
/** Names whose prices are remembered. */
const namesMax = 1_000
/** Characters of a name that is matched. No provider has longer ones. */
const nameMax = 200
/**
 * Steps of the matching of one list, as `patternWeight` counts them: about 1.5 s of processor time.
 * Names and patterns are both the caller's, so without a bound their product is.
 */
const stepsMax = 16_000_000
/** Steps between two pauses: about 10 ms. */
const sliceSteps = 100_000

/** Dollars that a token may cost. */
const tokenCostMax = 1_000_000
const million = 1_000_000

/** The prices of a workspace, and the usual ones of models that it has none for. */
export class PriceList {
  /** The one that applies comes first: with a provider, then the latest, then the newest. */
  readonly #prices: readonly Price[]
  readonly #found = new LRUCache<string, readonly Prices[]>({ max: namesMax })
  #stepsLeft = stepsMax

  constructor(all: readonly PriceJson[]) {
    let total = 0
    this.#prices = all.flatMap((json, index) => {
      const weight = patternWeight(String(json['match_pattern']))
      total += weight
      const price = total > weightMax ? undefined : priceOf(json, weight)
      return price === undefined ? [] : [{ price, index }]
    }).toSorted((a, b) =>
      Number(b.price.provider !== null) - Number(a.price.provider !== null) ||
      b.price.fromUs - a.price.fromUs || b.index - a.index
    ).map(({ price }) => price)
  }

  /** True if it is known which prices the names have. Finding them may take tenths of a second. */
  knows(names: ModelNames): boolean {
    return this.#found.has(keyOf(names))
  }

  /** Finds the prices of names, with a pause for other work after each part of the search. */
  async learn(names: ModelNames): Promise<void> {
    if (this.knows(names)) return
    let sinceSteps = 0
    const own: Price[] = []
    for (const price of this.#candidates(names)) {
      sinceSteps += matchSteps(price, names)
      if (sinceSteps > sliceSteps) {
        await setImmediate()
        sinceSteps = 0
      }
      const fits = this.#fits(price, names)
      if (fits === undefined) return
      if (fits) own.push(price)
    }
    this.#keep(names, own)
  }

  /** The usage with its costs; undefined if no price applies. What the client says wins. */
  priced({ names, startUs, usage }: PricedCall): Usage | undefined {
    const price = this.#of(names).find(({ fromUs }) => fromUs <= startUs)
    if (price === undefined) return undefined
    const { promptTokens, completionTokens, kinds } = usage
    const prompt = usage.promptCost === null
      ? costOf(price.prompt, promptTokens, kinds?.promptTokens, kinds?.promptCost)
      : { sum: usage.promptCost, byKind: kinds?.promptCost ?? {} }
    const completion = usage.completionCost === null
      ? costOf(price.completion, completionTokens, kinds?.completionTokens, kinds?.completionCost)
      : { sum: usage.completionCost, byKind: kinds?.completionCost ?? {} }
    return { ...usage, promptCost: prompt.sum, completionCost: completion.sum,
      totalCost: dollars(prompt.sum + completion.sum),
      kinds: knownKinds({ ...kinds, promptCost: prompt.byKind,
        completionCost: completion.byKind }) }
  }

  /** The prices of the workspace for the names, and last the usual one; none without steps left. */
  #of(names: ModelNames): readonly Prices[] {
    const known = this.#found.get(keyOf(names))
    if (known !== undefined) return known
    const own: Price[] = []
    for (const price of this.#candidates(names)) {
      const fits = this.#fits(price, names)
      if (fits === undefined) return []
      if (fits) own.push(price)
    }
    return this.#keep(names, own)
  }

  #keep(names: ModelNames, own: readonly Prices[]): readonly Prices[] {
    const usual = usualPriceOf(names)
    const found = usual === undefined ? own : [...own, pricesOf(usual)]
    this.#found.set(keyOf(names), found)
    return found
  }

  /** Prices whose patterns have to be tried on the names. */
  #candidates(names: ModelNames): readonly Price[] {
    return this.#prices.filter((price) =>
      (price.provider === null || price.provider === names.provider) &&
      (nameFor(price, names)?.length ?? Infinity) <= nameMax
    )
  }

  /** Undefined if the list has used up its steps. */
  #fits(price: Price, names: ModelNames): boolean | undefined {
    const steps = matchSteps(price, names)
    if (steps > this.#stepsLeft) return undefined
    this.#stepsLeft -= steps
    return price.pattern.test(nameFor(price, names)!)
  }
}

/** The name that the pattern of a price is tried on. */
function nameFor({ path }: Price, { model, invocation }: ModelNames): string | undefined {
  return model ?? path.map((each) => invocation[each]).find((each) => each !== undefined)
}

function matchSteps(price: Price, names: ModelNames): number {
  return price.weight * (nameFor(price, names)!.length + 1)
}

/** Prices calls that messages of threads tell of. A cost that is said stays. */
export function pricerOf(list: PriceList): PriceModel {
  return ({ model, provider = null }, usage, startUs) => {
    const isSaid = usage.totalCost !== null
    if (model === undefined || usage.totalTokens === null || isSaid) return usage
    return list.priced({ names: { model, provider, invocation: {} }, startUs, usage }) ?? usage
  }
}

/**
 * Returns the result of work that prices calls. Names that are new to the list are looked up first,
 * with pauses for other work, and the work is done again with their prices.
 */
export async function pricedBy<Result>(list: PriceList,
  work: (price: PriceModel) => Result): Promise<Result> {
  const price = pricerOf(list)
  const unknown = new Map<string, ModelNames>()
  const first = work((named, usage, startUs) => {
    const names = { model: named.model, provider: named.provider ?? null, invocation: {} }
    if (named.model === undefined || list.knows(names)) return price(named, usage, startUs)
    unknown.set(keyOf(names), names)
    return usage
  })
  if (unknown.size === 0) return first
  for (const names of unknown.values()) await list.learn(names)
  return work(price)
}

/** Undefined for a pattern that costs too much: an earlier server may have kept one. */
function priceOf(json: PriceJson, weight: number): Price | undefined {
  const { match_pattern: text, match_path: path, provider, start_time: from } = json
  const pattern = weight > patternWeightMax ? undefined : linearPattern(String(text))
  return pattern && {
    pattern,
    weight,
    path: Array.isArray(path) ? path.map(String) : [],
    provider: typeof provider === 'string' && provider !== '' ? provider : null,
    fromUs: readTimeUs(from ?? undefined) ?? 0,
    prompt: tokenPrice(json['prompt_cost'], json['prompt_cost_details']),
    completion: tokenPrice(json['completion_cost'], json['completion_cost_details']),
  }
}

function tokenPrice(cost: unknown, details: unknown): TokenPrice {
  const own = isObject(details) ? Object.entries(details) : []
  return { cost: Number(cost), details: Object.fromEntries(own.flatMap(([kind, each]) => {
    const price = typeof each === 'string' ? Number(each) : each
    return typeof price === 'number' && price >= 0 && price <= tokenCostMax ? [[kind, price]] : []
  })) }
}

/** A usual price has no beginning. */
function pricesOf({ input, cachedInput, cacheWrite, output }: UsualPrice): Prices {
  const details = { cache_read: cachedInput, cache_creation: cacheWrite }
  return { prompt: { cost: input / million, details: Object.fromEntries(
    Object.entries(details).flatMap(([kind, each]) =>
      each === null ? [] : [[kind, each / million]]
    ),
  ) }, completion: { cost: output / million, details: {} }, fromUs: -Infinity }
}

/** Cost of tokens, and its parts by the kind of token. */
interface Cost {
  readonly sum: number
  readonly byKind: ByKind
}

/**
 * Kinds are parts of all tokens: those whose cost is said have it, then those with a price of their
 * own have that, and all others have the usual one.
 */
function costOf({ cost, details }: TokenPrice, tokens: number | null, kinds: ByKind = {},
  said: ByKind = {}): Cost {
  const byKind = new Map<string, number>()
  let [left, sum] = [tokens ?? 0, 0]
  const take = (kind: string) => {
    const some = Math.min(Object.hasOwn(kinds, kind) ? kinds[kind]! : 0, left)
    left -= some
    return some
  }
  for (const [kind, own] of Object.entries(said)) {
    take(kind)
    sum += own
    byKind.set(kind, own)
  }
  for (const [kind, price] of Object.entries(details)) {
    if (byKind.has(kind)) continue
    const own = take(kind) * price
    sum += own
    if (Object.hasOwn(kinds, kind)) byKind.set(kind, dollars(own))
  }
  sum += left * cost
  for (const kind of Object.keys(kinds)) {
    if (!byKind.has(kind)) byKind.set(kind, dollars(take(kind) * cost))
  }
  return { sum: dollars(sum), byKind: Object.fromEntries(byKind) }
}

function keyOf(names: ModelNames): string {
  return JSON.stringify([names.provider, names.model, names.invocation])
}
