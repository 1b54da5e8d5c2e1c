/** StoreService: the typed API of items over the same operations as REST. */

import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { ServiceImpl } from '@connectrpc/connect'

import type { ItemSchema, StoreService } from '../../../proto/gen/frontdoor/v1/store_pb.js'
import { deleteItem, getItem, listNamespaces, putItem, searchItems } from '../../api/index.ts'
import type { Item } from '../../items/index.ts'
import type { RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { checkerOf } from '../schema/validation.ts'
import { callerOf, goneSignal, tenantOf } from './caller-value.ts'
import { bytesOf, jsonIn } from './json-bytes.ts'
import { pageOf } from './messages.ts'

/** The calls of `StoreService`, over the operations. */
export function storeService(
  { store, reads }: Pick<RouteParts, 'store' | 'reads'>,
): ServiceImpl<typeof StoreService> {
  return {
    putItem: async ({ namespace, key, valueJson, index, ttlMinutes: ttl }, context) => {
      const body = checkerOf(putItem.body)({
        namespace,
        key,
        value: jsonIn('value_json', valueJson),
        ...index && { index: index.paths.length > 0 ? index.paths : false },
        ...ttl !== undefined && { ttl: ttl === 0 ? null : ttl },
      })
      await store.put(callerOf(context), body)
      return {}
    },
    getItem: async ({ namespace, key, refreshTtl }, context) => {
      const query = checkerOf(getItem.query)({ namespace, key, refresh_ttl: refreshTtl })
      const item = await store.get(callerOf(context), query)
      return item === null ? {} : { item: itemMessage(item) }
    },
    deleteItem: async ({ namespace, key }, context) => {
      await store.delete(callerOf(context), checkerOf(deleteItem.body)({ namespace, key }))
      return {}
    },
    searchItems: async ({ namespacePrefix, filterJson, query, page, refreshTtl }, context) => {
      const body = checkerOf(searchItems.body)({ ...pageOf(page), namespace_prefix: namespacePrefix,
        filter: jsonIn('filter_json', filterJson), query, refresh_ttl: refreshTtl })
      const found = await store.search(callerOf(context), body, goneSignal(context))
      using share = reads.share(tenantOf(context))
      takeRows(share, found.map(({ row }) => row))
      return { items: found.map(({ row, score }) => ({ item: itemMessage(row), score })) }
    },
    listNamespaces: async ({ prefix, suffix, maxDepth, page }, context) => {
      const body = checkerOf(listNamespaces.body)({ ...pageOf(page), prefix, suffix,
        max_depth: maxDepth || undefined })
      const found = await store.namespaces(callerOf(context), body, goneSignal(context))
      return { namespaces: found.map((labels) => ({ labels: [...labels] })) }
    },
  }
}

function itemMessage(
  { namespace, key, valueJson, createdAtMs, updatedAtMs }: Item,
): MessageInitShape<typeof ItemSchema> {
  return { namespace, key, valueJson: bytesOf(valueJson), createdAt: timestampFromMs(createdAtMs),
    updatedAt: timestampFromMs(updatedAtMs) }
}
