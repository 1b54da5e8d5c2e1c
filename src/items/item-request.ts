/** Requests of callers to the store, before they are checked. */

import type { NamespaceCondition } from '../search/index.ts'
import type { ItemPlace } from './item.ts'

/** Item to write, before it is checked. */
export interface PutItem extends ItemPlace {
  /** An object, as JSON. */
  readonly valueJson: string
  /** False for no vectors, paths instead of those of the index. */
  readonly index?: false | readonly string[] | null | undefined
  /** Minutes; null for no end, undefined for what the project says. */
  readonly ttl?: number | null | undefined
}

/** A search below a namespace. */
export interface SearchItems {
  readonly prefix: readonly string[]
  readonly filter?: Readonly<Record<string, unknown>> | undefined
  /** Words that an item must all have. */
  readonly words?: readonly string[] | undefined
  /** A text: what is nearest to it comes first, if the project has an index. */
  readonly query?: string | undefined
  readonly limit: number
  readonly offset: number
  readonly refresh?: boolean | undefined
}

/** Conditions and page of a listing of namespaces. */
export interface ListNamespaces {
  readonly conditions: readonly NamespaceCondition[]
  readonly maxDepth?: number | undefined
  readonly limit: number
  readonly offset: number
}
