/** Operations on items as plain data: what a graph asks for, and what it is answered. */

import type { NamespaceCondition } from '../search/index.ts'
import type { Item, ItemPlace } from './item.ts'

/** One operation of a batch. */
export type ItemOperation =
  | ItemPlace & { readonly kind: 'get' }
  | ItemPlace & { readonly kind: 'put'; readonly valueJson: string;
    readonly index?: false | readonly string[] | undefined }
  | ItemPlace & { readonly kind: 'delete' }
  | { readonly kind: 'search'; readonly prefix: readonly string[];
    readonly filter?: Readonly<Record<string, unknown>> | undefined;
    readonly query?: string | undefined; readonly limit: number; readonly offset: number }
  | { readonly kind: 'namespaces'; readonly conditions: readonly NamespaceCondition[];
    readonly maxDepth?: number | undefined; readonly limit: number; readonly offset: number }

/** An item that was found, and how near it is. */
export interface ScoredItem extends Item {
  readonly score?: number | undefined
}

/** The result of one operation, by its kind. */
export type ItemResult =
  | { readonly kind: 'get'; readonly item: Item | null }
  | { readonly kind: 'done' }
  | { readonly kind: 'search'; readonly items: readonly ScoredItem[] }
  | { readonly kind: 'namespaces'; readonly namespaces: readonly (readonly string[])[] }
