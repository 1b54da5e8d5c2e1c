/** The routes of the store. */

import type { JsonText } from '../../checkpoint/index.ts'
import type { Item } from '../../items/index.ts'
import { timeText } from '../../json/index.ts'
import type { FoundItem } from '../../search/index.ts'
import { leftSignal, sendJson, shareFor } from '../http/list-reply.ts'
import { route } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { DeleteItem, ListNamespaces, PutItem, ReadItem, SearchItems } from '../schema/store.ts'

const tag = 'Store'

/** Adds the routes of items and namespaces. */
export function storeRoutes(app: App, { store }: Pick<RouteParts, 'store'>): void {
  app.put('/store/items',
    route('change', 'putItem', { tag, summary: 'Store an item, or replace it', body: PutItem }),
    async ({ body, caller }, reply) => {
      await store.put(caller.tenant, body)
      return reply.code(204).send()
    })

  app.get('/store/items',
    route('read', 'getItem', { tag, summary: 'Get an item, or null', querystring: ReadItem,
      answer: 'Item' }), async ({ query, caller }, reply) => {
    const item = await store.get(caller.tenant, query)
    return sendJson(reply, item === null ? 'null' : itemJson(item))
  })

  app.delete('/store/items',
    route('change', 'deleteItem', { tag, summary: 'Delete an item', body: DeleteItem }),
    async ({ body, caller }, reply) => {
      await store.delete(caller.tenant, body)
      return reply.code(204).send()
    })

  app.post('/store/items/search',
    route('read', 'searchItems', { tag, summary: 'Search items below a namespace',
      body: SearchItems, answer: 'FoundItems' }), async ({ body, caller }, reply) => {
    const found = await store.search(caller.tenant, body, leftSignal(reply))
    takeRows(shareFor(reply), found.map(({ row }) => row))
    return sendJson(reply, `{"items":[${found.map(foundJson).join(',')}]}`)
  })

  app.post('/store/namespaces',
    route('read', 'listNamespaces', { tag, summary: 'List the namespaces of items',
      body: ListNamespaces, answer: 'Namespaces' }), async ({ body, caller }, reply) => {
    const namespaces = await store.namespaces(caller.tenant, body, leftSignal(reply))
    return sendJson(reply, JSON.stringify({ namespaces }))
  })
}

function itemJson(item: Item, more = ''): JsonText {
  const { namespace, key, valueJson, createdAtMs, updatedAtMs } = item
  return `{"namespace":${JSON.stringify(namespace)},"key":${JSON.stringify(key)},` +
    `"value":${valueJson},"created_at":"${timeText(createdAtMs)}",` +
    `"updated_at":"${timeText(updatedAtMs)}"${more}}`
}

function foundJson({ row, score }: FoundItem): JsonText {
  return itemJson(row, `,"score":${JSON.stringify(score ?? null)}`)
}
