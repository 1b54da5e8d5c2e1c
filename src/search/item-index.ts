/** The port for finding items of long-term memory: by id, by namespace and value, by meaning. */

import type { ItemRow } from '../../proto/gen/storage/v1/row.ts'

/** A page of items below a namespace: the newest first, or with `vector` the nearest first. */
export interface ItemQuery {
  readonly tenant: string
  /** First labels of the namespace; none for all namespaces. */
  readonly prefix: readonly string[]
  /** Values or operators by top-level key of the value. Every one must hold. */
  readonly filter?: Readonly<Record<string, unknown>>
  /** Words that the key, the labels or the value must all have, in small or capital letters. */
  readonly words?: readonly string[]
  /** Vector of the query. Items without vectors come last then, without a score. */
  readonly vector?: readonly number[]
  /** Items that expire by then are not found. */
  readonly nowMs: number
  /** 1 to 1 000. */
  readonly limit: number
  readonly offset: number
  /**
   * Bytes that the rows may have. A longer page throws `too_large`, with `bytes` in its details.
   */
  readonly bytes?: number
}

/** Labels that a namespace must begin or end with. `*` stands for any label. */
export interface NamespaceCondition {
  readonly matchType: 'prefix' | 'suffix'
  readonly path: readonly string[]
}

/** A page of namespaces, each once, in the order of their labels. */
export interface NamespaceQuery {
  readonly tenant: string
  /** Every condition must hold. */
  readonly conditions: readonly NamespaceCondition[]
  /** Labels at which namespaces are cut; by default they are not. */
  readonly maxDepth?: number
  readonly nowMs: number
  readonly limit: number
  readonly offset: number
}

/** An item that was found. Its row has no vectors. */
export interface FoundItem {
  readonly row: ItemRow
  /** Cosine of the angle to what was asked; undefined if nothing was compared. */
  readonly score?: number | undefined
}

/** A namespace, as its labels. */
export type Namespace = readonly string[]

/** Searches items. A store answers for its rows, a scattered index for all members. */
export interface ItemSearch {
  search(query: ItemQuery, cancelled?: AbortSignal): Promise<{ rows: FoundItem[]; total: number }>
  /** Namespaces with any item. */
  namespaces(query: NamespaceQuery, cancelled?: AbortSignal): Promise<Namespace[]>
}

/** Key of an item, with its tenant. */
export interface ItemName {
  readonly tenant: string
  readonly id: string
}

/** Finds items of a member or a store. */
export interface ItemIndex extends ItemSearch {
  /** The newest row of an item, also of one that is deleted or expired, with its vectors. */
  get(tenant: string, id: string): Promise<ItemRow | undefined>
  /** Items that were deleted or have expired before that time, at most `limit`. */
  ended(beforeMs: number, limit: number): Promise<readonly ItemName[]>
}

/** The id of an item: different for every namespace and key, whatever characters they have. */
export function itemId(namespace: Namespace, key: string): string {
  return JSON.stringify([namespace, key])
}

/** Expiry of deleted items: long ago, so that no clock finds them again. */
export const deletedMs = 1

/** True if an item is there at that time. */
export function isAlive({ expiresAtMs }: Pick<ItemRow, 'expiresAtMs'>, nowMs: number): boolean {
  return expiresAtMs === 0 || expiresAtMs > nowMs
}

/** The labels as one text. It begins with the text of each of its prefixes, and of no other. */
export function namespaceText(namespace: Namespace): string {
  return namespace.map((label) => `${label}.`).join('')
}

/** The labels of such a text. */
export function labelsOf(text: string): string[] {
  return text === '' ? [] : text.slice(0, -1).split('.')
}
