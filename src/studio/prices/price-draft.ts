/** A price as a person writes it, and the request that it becomes. Pure. */

import type { PriceBody } from '../api/platform/prices.ts'
import type { PriceRow } from './price-rows.ts'

/** Texts of the form; costs are in dollars for a million tokens. */
export interface PriceDraft {
  readonly name: string
  readonly provider: string
  readonly input: string
  readonly cachedInput: string
  readonly output: string
}

/** Faults of a draft, by field. */
export type PriceFaults = Partial<Record<keyof PriceDraft, string>>

/** Characters of a name, and dollars that a million tokens may cost. */
const nameMax = 200
const costMax = 1_000_000

/** An empty draft for a model. */
export const draftFor = (name: string): PriceDraft => ({ name: name.slice(0, nameMax), provider: '',
  input: '', cachedInput: '', output: '' })

/** The draft that changes a price, or sets one in place of a built-in one. */
export const draftOf = ({ name, provider, input, cachedInput, output }: PriceRow): PriceDraft => ({
  name,
  provider,
  input: String(input),
  cachedInput: cachedInput === null ? '' : String(cachedInput),
  output: String(output),
})

/** The faults of a draft; empty if it can be saved. */
export function faultsOf({ name, provider, input, cachedInput, output }: PriceDraft): PriceFaults {
  const long = (text: string) => text.length > nameMax && `It has ${nameMax} characters at most.`
  const faults = {
    name: name.trim() === '' ? 'Name the model.' : long(name),
    provider: long(provider),
    input: costFault(input),
    cachedInput: cachedInput.trim() !== '' && costFault(cachedInput),
    output: costFault(output),
  }
  return Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== false))
}

const decimal = /^\d{1,9}(?:\.\d{1,12})?$/

function costFault(text: string): string | false {
  const plain = text.trim()
  return decimal.test(plain) && Number(plain) <= costMax
    ? false
    : 'A number of dollars from 0 to 1,000,000.'
}

/** The request. Kinds of tokens that the form does not show stay as they were. */
export function bodyOf({ name, provider, input, cachedInput, output }: PriceDraft,
  before: PriceBody | undefined): PriceBody {
  const cost = (text: string) => Number((Number(text.trim()) / 1_000_000).toPrecision(12))
  const { cache_read: _, ...otherKinds } = before?.prompt_cost_details ?? {}
  const kinds = { ...otherKinds, ...cachedInput.trim() !== '' && { cache_read: cost(cachedInput) } }
  const isSame = before !== undefined && before.name === name.trim()
  return { ...before, name: name.trim(),
    match_pattern: isSame ? before.match_pattern : patternFor(name.trim()),
    provider: provider.trim() === '' ? null : provider.trim(), prompt_cost: cost(input),
    completion_cost: cost(output),
    prompt_cost_details: Object.keys(kinds).length === 0 ? null : kinds }
}

/** Finds the name whole, with a provider before it, or with a day or a version behind it. */
export function patternFor(name: string): string {
  const exact = name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll('\\-', '-')
  const version = '(?:[-@:](?:latest|\\d{8}|\\d{4}-\\d{2}-\\d{2}))?(?:-v\\d+(?::\\d+)?)?'
  return `^(?:.*[/.])?${exact}${version}$`
}
