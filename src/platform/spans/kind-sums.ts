/** Sums over spans by the kind of token: tokens, and their cost. */

import { kindsMax } from './token-kinds.ts'
import type { KindGroup, TokenKinds } from './token-kinds.ts'

/** Sums by kind, of each group that has some. Kinds beyond the first are not counted. */
export type KindSums = Map<KindGroup, Map<string, number>>

/** Adds the usage of a span. */
export function addKinds(into: KindSums, kinds: TokenKinds): void {
  for (const [group, own] of Object.entries(kinds)) {
    for (const [kind, more] of Object.entries(own)) addKind(into, group as KindGroup, kind, more)
  }
}

/** Adds all sums of another set. */
export function addKindSums(into: KindSums,
  other: ReadonlyMap<KindGroup, ReadonlyMap<string, number>>): void {
  for (const [group, own] of other) {
    for (const [kind, more] of own) addKind(into, group, kind, more)
  }
}

/** Adds to the sum of one kind. */
export function addKind(into: KindSums, group: KindGroup, kind: string, more: number): void {
  const sums = into.get(group) ?? new Map<string, number>()
  into.set(group, sums)
  const sum = sums.get(kind)
  if (sum !== undefined || sums.size < kindsMax) sums.set(kind, (sum ?? 0) + more)
}
