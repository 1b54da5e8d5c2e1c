/** Prices as the page lists them: those of the workspace first, then the built-in ones. Pure. */

import type { UsualPrices } from '../../api/index.ts'
import type { ModelPrice } from '../api/platform/prices.ts'

/** A price in dollars for a million tokens. Null: as the input. */
export interface PriceRow {
  readonly key: string
  readonly name: string
  readonly provider: string
  readonly input: number
  readonly cachedInput: number | null
  readonly output: number
  /** The price of the workspace; undefined for a built-in one. */
  readonly own: ModelPrice | undefined
}

const million = 1_000_000

/** Dollars for a million tokens, without the digits that only binary arithmetic adds. */
export const perMillion = (cost: number): number => Number((cost * million).toPrecision(12))

/** The rows whose names or providers contain all the words. */
export function priceRows(own: readonly ModelPrice[], usual: UsualPrices['prices'],
  q: string): readonly PriceRow[] {
  const words = q.toLowerCase().split(/\s+/u).filter((word) => word !== '')
  const fits = ({ name, provider }: PriceRow) =>
    words.every((word) => `${name} ${provider}`.toLowerCase().includes(word))
  return [...own.map(ownRow), ...usual.map(usualRow)].filter(fits)
}

function ownRow(price: ModelPrice): PriceRow {
  const { id, name, provider, prompt_cost: input, completion_cost: output } = price
  const cached = Number((price.prompt_cost_details ?? {})['cache_read'])
  return { key: id, name, provider: provider ?? '', own: price, input: perMillion(input),
    cachedInput: Number.isFinite(cached) ? perMillion(cached) : null, output: perMillion(output) }
}

function usualRow(
  { name, provider, input, cached_input: cachedInput, output }: UsualPrices['prices'][number],
): PriceRow {
  return { key: `${provider} ${name}`, name, provider, input, cachedInput, output, own: undefined }
}
