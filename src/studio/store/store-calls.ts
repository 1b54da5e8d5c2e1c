/** Calls about the store. Reads of the page move no end of an item. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import type { PutItem } from '../../api/index.ts'
import { ask } from '../api/ask.ts'

/** An item that was found. */
export type FoundItem = Awaited<ReturnType<typeof search>>[number]

/** An item as a whole; its end is known. */
export type StoredItem = NonNullable<Awaited<ReturnType<typeof getItem>>>

/** Search below a namespace. */
export interface ItemQuestion {
  readonly namespace: readonly string[]
  readonly text: string
  readonly by: 'words' | 'meaning'
}

/** Items of a page: each has up to 512 KB. */
const pageItems = 25
/** Namespaces that are read at once below another. */
const pageNamespaces = 200

async function search({ namespace, text, by }: ItemQuestion, offset: number, signal: AbortSignal) {
  const asked = text.trim() === '' ? {} : by === 'meaning' ? { query: text } : { q: text }
  const { items } = await ask('POST /store/items/search', { signal,
    body: { namespace_prefix: [...namespace], ...asked, limit: pageItems, offset,
      refresh_ttl: false, include: ['ttl'] } })
  return items
}

/** The items below a namespace: the newest first, or the nearest. */
export const itemPages = (question: ItemQuestion) =>
  infiniteQueryOptions({
    queryKey: ['store', 'items', question],
    queryFn: ({ pageParam, signal }) => search(question, pageParam, signal),
    initialPageParam: 0,
    getNextPageParam: (last, pages) =>
      last.length < pageItems ? undefined : pages.length * pageItems,
  })

/** The labels that follow a namespace, a page at a time. */
export const childPages = (namespace: readonly string[]) =>
  infiniteQueryOptions({
    queryKey: ['store', 'namespaces', namespace],
    queryFn: async ({ pageParam, signal }) => {
      const { namespaces } = await ask('POST /store/namespaces', { signal,
        body: { prefix: [...namespace], max_depth: namespace.length + 1, limit: pageNamespaces,
          offset: pageParam } })
      return namespaces
    },
    initialPageParam: 0,
    getNextPageParam: (last, pages) =>
      last.length < pageNamespaces ? undefined : pages.length * pageNamespaces,
  })

const getItem = (namespace: readonly string[], key: string, signal: AbortSignal) =>
  ask('GET /store/items', { signal,
    query: { namespace: [...namespace], key, refresh_ttl: false, include: ['ttl'] } })

/** An item; null if there is none. */
export const itemQuery = (namespace: readonly string[], key: string) =>
  queryOptions({
    queryKey: ['store', 'item', namespace, key],
    queryFn: ({ signal }) => getItem(namespace, key, signal),
  })

/** Stores an item, in the place of one that is there. */
export const putItem = (body: PutItem) => ask('PUT /store/items', { body })

/** Deletes an item. */
export const deleteItem = (namespace: readonly string[], key: string) =>
  ask('DELETE /store/items', { body: { namespace: [...namespace], key } })
