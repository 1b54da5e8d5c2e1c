/** The routes of the store. */

import { deleteItem, getItem, listNamespaces, putItem, searchItems } from '../../api/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { Item } from '../../items/index.ts'
import { timeText } from '../../json/index.ts'
import type { FoundItem } from '../../search/index.ts'
import { leftSignal, sendJson, shareFor } from '../http/list-reply.ts'
import type { App, RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { serve } from '../http/serve.ts'

/** Adds the routes of items and namespaces. */
export function storeRoutes(app: App, { store }: Pick<RouteParts, 'store'>): void {
  serve(app, putItem, async ({ body, caller }) => store.put(caller, body))
  serve(app, getItem, async ({ query, caller }, reply) => {
    const item = await store.get(caller, query)
    return sendJson(reply, item === null ? 'null' : itemJson(item, ttlIn(item, query)))
  })
  serve(app, deleteItem, async ({ body, caller }) => store.delete(caller, body))
  serve(app, searchItems, async ({ body, caller }, reply) => {
    const found = await store.search(caller, body, leftSignal(reply))
    takeRows(shareFor(reply), found.map(({ row }) => row))
    return sendJson(reply, `{"items":[${found.map((each) => foundJson(each, body)).join(',')}]}`)
  })
  serve(app, listNamespaces, async ({ body, caller }, reply) => {
    const namespaces = await store.namespaces(caller, body, leftSignal(reply))
    return sendJson(reply, JSON.stringify({ namespaces }))
  })
}

function itemJson(item: Item, more = ''): JsonText {
  const { namespace, key, valueJson, createdAtMs, updatedAtMs } = item
  return `{"namespace":${JSON.stringify(namespace)},"key":${JSON.stringify(key)},` +
    `"value":${valueJson},"created_at":"${timeText(createdAtMs)}",` +
    `"updated_at":"${timeText(updatedAtMs)}"${more}}`
}

function foundJson({ row, score }: FoundItem, request: Including): JsonText {
  return itemJson(row, `,"score":${JSON.stringify(score ?? null)}${ttlIn(row, request)}`)
}

/** A request that may ask for more members. */
interface Including {
  readonly include?: readonly 'ttl'[] | null
}

/** The end of an item, for a request that includes it. */
function ttlIn({ ttlMs = 0, expiresAtMs = 0 }: Item, { include }: Including): JsonText {
  if (!include?.includes('ttl')) return ''
  const ttl = expiresAtMs === 0
    ? null
    : { ttl_minutes: ttlMs / 60_000, expires_at: timeText(expiresAtMs) }
  return `,"ttl":${JSON.stringify(ttl)}`
}
