/**
 * Kinds of tokens, such as `cache_read`: the number that a span used of each, and their cost. Pure.
 */

/** Numbers by the kind of token. */
export type ByKind = Readonly<Record<string, number>>

/**
 * Groups of numbers that are known by kind. Stores number them in this order, which never changes.
 */
export const kindGroups = ['promptTokens', 'completionTokens', 'promptCost',
  'completionCost'] as const

/** A group of numbers that are known by kind. */
export type KindGroup = typeof kindGroups[number]

/** Tokens and US dollars by kind: parts of those of the span. Unknown groups are missing. */
export type TokenKinds = Readonly<Partial<Record<KindGroup, ByKind>>>

/** Kinds of one group, and characters of the name of a kind. */
export const [kindsMax, kindLengthMax] = [50, 64]

/** The kinds with at least one number; null if there are none. */
export function knownKinds(kinds: TokenKinds): TokenKinds | null {
  const known = Object.entries(kinds).filter(([, own]) => Object.keys(own).length > 0)
  return known.length === 0 ? null : Object.fromEntries(known)
}

/** Sums of two sets by kind; null if neither has numbers. */
export function addedKinds(one: TokenKinds | null, other: TokenKinds | null): TokenKinds | null {
  if (one === null || other === null) return one ?? other
  return knownKinds(
    Object.fromEntries(kindGroups.map((group) => [group, addedNumbers(one[group], other[group])])),
  )
}

function addedNumbers(one: ByKind = {}, other: ByKind = {}): ByKind {
  const sums = new Map(Object.entries(one))
  for (const [kind, more] of Object.entries(other)) {
    const sum = sums.get(kind)
    if (sum !== undefined || sums.size < kindsMax) sums.set(kind, (sum ?? 0) + more)
  }
  return Object.fromEntries(sums)
}

/** The kinds as stores keep them: JSON, a list by `kindGroups`. */
export function writeKinds(kinds: TokenKinds): string {
  return JSON.stringify(kindGroups.map((group) => kinds[group] ?? null))
}

/** Kinds from the text that `writeKinds` made. */
export function readKinds(json: string): TokenKinds {
  const numbers = JSON.parse(json) as readonly (ByKind | null)[]
  return Object.fromEntries(kindGroups.flatMap((group, index) => {
    const own = numbers[index] ?? null
    return own === null ? [] : [[group, own]]
  }))
}
