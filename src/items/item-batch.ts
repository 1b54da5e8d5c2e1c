/** Does the operations of a batch as LangGraph's own store does: reads first, then what changes. */

import { itemId } from '../search/index.ts'
import type { FoundItem, Namespace } from '../search/index.ts'
import type { ItemOperation, ItemResult } from './item-operation.ts'
import { fault } from './item-rules.ts'
import type { ListNamespaces, PutItem, SearchItems } from './item-request.ts'
import { itemOf } from './item.ts'
import type { Item, ItemPlace } from './item.ts'

type Changing = Extract<ItemOperation, { readonly kind: 'put' | 'delete' }>
type Reading = Exclude<ItemOperation, Changing>

/** Store on which a batch is carried out. */
interface Store {
  get(tenant: string, place: ItemPlace): Promise<Item | null>
  put(tenant: string, item: PutItem): Promise<void>
  delete(tenant: string, place: ItemPlace): Promise<void>
  search(tenant: string, request: SearchItems): Promise<readonly FoundItem[]>
  namespaces(tenant: string, request: ListNamespaces): Promise<readonly Namespace[]>
}

/** Operations of one batch, characters of all their values, and items of one search, at most. */
const [operationsMax, charactersMax, limitMax] = [1_000, 32 * 1024 * 1024, 10_000]

/** The results, in the order of the operations. Of two changes of one item, the last is done. */
export async function doBatch(store: Store, tenant: string,
  operations: readonly ItemOperation[]): Promise<ItemResult[]> {
  if (operations.length > operationsMax) {
    throw fault('operations', `may be ${operationsMax} in one batch`)
  }
  const characters = operations.reduce((sum, each) => sum + lengthOf(each), 0)
  if (characters > charactersMax) {
    throw fault('operations', `may have ${charactersMax} characters of JSON in one batch`)
  }
  const results = await Promise.all(
    operations.map((each): Promise<ItemResult> | ItemResult =>
      isChange(each) ? { kind: 'done' } : read(store, tenant, each)
    ),
  )
  const changes = new Map(
    operations.filter(isChange).map((each) => [itemId(each.namespace, each.key), each]),
  )
  await Promise.all([...changes.values()].map((each) => change(store, tenant, each)))
  return results
}

function lengthOf(operation: ItemOperation): number {
  return operation.kind === 'put' ? operation.valueJson.length : 0
}

function isChange(operation: ItemOperation): operation is Changing {
  return operation.kind === 'put' || operation.kind === 'delete'
}

async function read(store: Store, tenant: string, operation: Reading): Promise<ItemResult> {
  if (operation.kind === 'get') {
    return { kind: 'get', item: await store.get(tenant, operation) }
  }
  const { limit, offset } = operation
  if (!isWhole(offset) || !isWhole(limit) || limit > limitMax) {
    throw fault('limit', `must be at most ${limitMax}, and the offset not below 0`)
  }
  if (operation.kind === 'namespaces') {
    return { kind: 'namespaces', namespaces: await store.namespaces(tenant, operation) }
  }
  const found = await store.search(tenant, operation)
  return { kind: 'search', items: found.map(({ row, score }) => ({ ...itemOf(row), score })) }
}

function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

async function change(store: Store, tenant: string, operation: Changing): Promise<void> {
  if (operation.kind === 'delete') return store.delete(tenant, operation)
  await store.put(tenant, operation)
}
