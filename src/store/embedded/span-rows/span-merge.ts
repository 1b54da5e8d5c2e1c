/**
 * Merge of the next operation on a span into its row, so that operations in any order make the head
 * that `foldHead` of src/platform makes of all of them.
 */

import { noFields } from '../../../platform/index.ts'
import type { BlockId, FeedbackMark, SpanFields, SpanPlace, SpanWrite,
  Term } from '../../../platform/index.ts'

/** The fields of a head in the order in which rows number them. It never changes. */
export const fieldOrder = ['dottedOrder', 'parent', 'root', 'name', 'type', 'endUs', 'firstTokenUs',
  'failed', 'promptTokens', 'completionTokens', 'totalTokens', 'promptCost', 'completionCost',
  'totalCost', 'thread', 'example', 'kinds'] as const satisfies readonly (keyof SpanFields)[]

/** The rank of a field that no operation has filled. */
export const noRank = -Infinity

/** Blocks of one span; of more the second goes, so that the post stays. */
const blocksMax = 4_096
/** Terms of one span; more are not added. */
const termsMax = 4_096

/** A block of a span, and when its first operation arrived. */
export interface BlockOfSpan {
  readonly id: BlockId
  readonly arrivedUs: number
}

/** Fields of a span whose columns have an index. */
export interface IndexedFields {
  /** Minutes since 1970 after which the span is deleted; null in a row of an earlier program. */
  expiresMin: number | null
  /** True if no operation specified the project. */
  isGuess: boolean
  /** True if it comes from a guessed project and that was not confirmed. */
  isMoved: boolean
}

/** A span as its row keeps it. */
export interface StoredSpan extends IndexedFields {
  readonly place: SpanPlace
  fields: SpanFields
  /**
   * Rank of the operation that each field is from, by `fieldOrder`: the higher one wins. A patch
   * has its arrival, a post the negative of it.
   */
  readonly ranks: number[]
  /** Terms that have a posting. */
  readonly posted: Set<Term>
  /** All other terms. */
  readonly unposted: Set<Term>
  /** By arrival. */
  blocks: readonly BlockOfSpan[]
  marks: readonly FeedbackMark[]
}

/** A new span, which has no operations yet. */
export function emptySpan(place: SpanPlace): StoredSpan {
  return { place, fields: noFields, ranks: Array.from(fieldOrder, () => noRank), posted: new Set(),
    unposted: new Set(), blocks: [], marks: [], expiresMin: null, isGuess: true, isMoved: false }
}

/** Takes an operation in. Returns the terms that need a posting now. */
export function takeIn(span: StoredSpan, operation: Omit<SpanWrite, 'place'>): readonly Term[] {
  overlay(span, operation)
  span.isGuess &&= operation.isGuess === true
  if (operation.block !== null) {
    span.blocks = withBlock(span.blocks, { id: operation.block, arrivedUs: operation.arrivedUs })
  }
  return operation.terms.filter((term, index) => addTerm(span, term, index < operation.indexed))
}

/**
 * Moves arrivals that are still to come to just before `arrivedUs`, in their order: they are of an
 * earlier process whose clock was ahead. Otherwise its patches would win until that time.
 */
export function rebaseArrivals(span: StoredSpan,
  { futureUs, arrivedUs }: { readonly futureUs: number; readonly arrivedUs: number }): void {
  const isAhead = (us: number) => us > futureUs && us >= arrivedUs && us !== Infinity
  const isAnyAhead = span.ranks.some((rank) => isAhead(Math.abs(rank))) ||
    isAhead(span.blocks.at(-1)?.arrivedUs ?? 0)
  if (!isAnyAhead) return
  const all = [...span.ranks.map(Math.abs), ...span.blocks.map((block) => block.arrivedUs)]
  const ahead = [...new Set(all.filter(isAhead))].toSorted((a, b) => a - b)
  const moved = new Map(ahead.map((us, index) => [us, arrivedUs - ahead.length + index]))
  for (const [index, rank] of span.ranks.entries()) {
    const us = moved.get(Math.abs(rank))
    if (us !== undefined) span.ranks[index] = Math.sign(rank) * us
  }
  span.blocks = span.blocks.map((block) => ({ ...block,
    arrivedUs: moved.get(block.arrivedUs) ?? block.arrivedUs })
  )
}

function overlay(span: StoredSpan, { kind, arrivedUs, fields }: Omit<SpanWrite, 'place'>): void {
  const isPatch = kind === 'patch'
  const rank = isPatch ? arrivedUs : -arrivedUs
  const over: Record<string, unknown> = { ...span.fields }
  for (const [index, name] of fieldOrder.entries()) {
    const kept = span.ranks[index]!
    // Of two patches that arrived at once the later one wins, of two posts the first.
    if (fields[name] === null || (isPatch ? rank < kept : rank <= kept)) continue
    over[name] = fields[name]
    span.ranks[index] = rank
  }
  span.fields = over as unknown as SpanFields
}

/** Adds a term. Returns true if it needs a posting that it has not. */
export function addTerm(span: StoredSpan, term: Term, isIndexed: boolean): boolean {
  if (span.posted.has(term)) return false
  if (span.posted.size + span.unposted.size >= termsMax && !span.unposted.has(term)) return false
  if (isIndexed) {
    span.unposted.delete(term)
    span.posted.add(term)
  } else span.unposted.add(term)
  return isIndexed
}

function withBlock(blocks: readonly BlockOfSpan[], added: BlockOfSpan): readonly BlockOfSpan[] {
  const known = blocks.find(({ id }) => id === added.id)
  if (known !== undefined && known.arrivedUs <= added.arrivedUs) return blocks
  const all = [...blocks.filter((block) => block !== known), added]
    .toSorted((a, b) => a.arrivedUs - b.arrivedUs)
  return all.length > blocksMax ? all.toSpliced(1, 1) : all
}
