/**
 * The store that graphs get: the items of the run's tenant, which the main thread reads and writes.
 *
 * The engine wraps each store in one that gathers calls, with a timer that spins for as long as the
 * run lasts, and that knows neither `index` nor `listNamespaces`. For our store it passes calls on
 * as they come: no run pays for a store that it does not use.
 */

import type { BaseStore } from '@langchain/langgraph'

import type { ItemOperation, ItemResult, ScoredItem } from '../../items/index.ts'
import { objectIn } from '../../json/index.ts'
import type { GraphLibrary } from '../project/library.ts'

/** Does operations, in the order of the results. */
export type AskItems = (operations: readonly ItemOperation[]) => Promise<readonly ItemResult[]>

/** Makes stores of the project's own copy of the engine. One for each worker. */
export class GraphStores {
  readonly #make: (ask: AskItems) => BaseStore

  /** Undefined if the engine is too old to have a store. */
  static of({ langgraph }: Pick<GraphLibrary, 'langgraph'>): GraphStores | undefined {
    const { BaseStore, AsyncBatchedStore } = langgraph as Partial<typeof langgraph>
    if (BaseStore === undefined || AsyncBatchedStore === undefined) return undefined
    const Own = ownStore(BaseStore)
    passOn(AsyncBatchedStore.prototype as unknown as Gatherer, Own)
    return new GraphStores((ask) => new Own(ask))
  }

  private constructor(make: (ask: AskItems) => BaseStore) {
    this.#make = make
  }

  open(ask: AskItems): BaseStore {
    return this.#make(ask)
  }
}

type StoreClass = abstract new() => BaseStore
type OwnStore = new(ask: AskItems) => BaseStore

function ownStore(Base: StoreClass): OwnStore {
  return class HeddleStore extends Base {
    readonly #ask: AskItems

    constructor(ask: AskItems) {
      super()
      this.#ask = ask
    }

    override async batch(operations: readonly unknown[]): Promise<never> {
      const results = await this.#ask(operations.map((each) => operationOf(each as Given)))
      return results.map(resultOf) as never
    }

    /** For configs that are written as JSON. */
    toJSON(): string {
      return '[HeddleStore]'
    }
  }
}

/** The parts of the engine's gathering store that are replaced. */
interface Gatherer {
  store: BaseStore
  running: boolean
  start(): unknown
}

const methods = ['get', 'search', 'put', 'delete', 'listNamespaces', 'batch'] as const

function passOn(gatherer: Gatherer, Own: OwnStore): void {
  const { start } = gatherer
  gatherer.start = function(this: Gatherer) {
    if (!(this.store instanceof Own)) return start.call(this)
    this.running = true
    return undefined
  }
  const calls = gatherer as unknown as Record<string, (...values: unknown[]) => unknown>
  for (const name of methods) {
    const before = calls[name]!
    calls[name] = function(this: unknown, ...values: unknown[]) {
      const { store } = this as Gatherer
      return store instanceof Own
        ? (store as unknown as typeof calls)[name]!(...values)
        : before.apply(this, values)
    }
  }
}

/** An operation as the engine has it. Its fields tell of which kind it is. */
interface Given {
  readonly namespace?: readonly string[]
  readonly key?: string
  readonly value?: unknown
  readonly index?: false | readonly string[] | null
  readonly namespacePrefix?: readonly string[]
  readonly filter?: Readonly<Record<string, unknown>> | null
  readonly query?: string | null
  readonly matchConditions?: readonly { readonly matchType: 'prefix' | 'suffix';
    readonly path: readonly string[] }[]
  readonly maxDepth?: number
  readonly limit?: number
  readonly offset?: number
}

function operationOf(given: Given): ItemOperation {
  const { namespacePrefix: prefix, namespace = [], key = '', value, limit, offset = 0 } = given
  const place = { namespace: [...namespace], key }
  if (prefix !== undefined) {
    // It is posted to another thread. A value outside of JSON equals no stored value anyway.
    const filter = given.filter ? objectIn(JSON.stringify(given.filter)) : undefined
    return { kind: 'search', prefix: [...prefix], filter, query: given.query ?? undefined,
      limit: limit ?? 10, offset }
  }
  if ('value' in given) {
    if (value === null || value === undefined) return { kind: 'delete', ...place }
    return { kind: 'put', ...place, valueJson: textOf(value), index: given.index ?? undefined }
  }
  if ('key' in given) return { kind: 'get', ...place }
  const conditions = (given.matchConditions ?? []).map(({ matchType, path }) => ({ matchType,
    path: [...path] })
  )
  return { kind: 'namespaces', conditions, maxDepth: given.maxDepth, limit: limit ?? 100, offset }
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  if (text.startsWith('{')) return text
  throw new TypeError('The value of an item must be an object that can be written as JSON.')
}

function resultOf(result: ItemResult): unknown {
  switch (result.kind) {
    case 'get':
      return result.item && itemOf(result.item)
    case 'done':
      return undefined
    case 'search':
      return result.items.map((item) => ({ ...itemOf(item), score: item.score }))
    case 'namespaces':
      return result.namespaces
  }
}

function itemOf({ namespace, key, valueJson, createdAtMs, updatedAtMs }: ScoredItem) {
  return { namespace, key, value: objectIn(valueJson), createdAt: new Date(createdAtMs),
    updatedAt: new Date(updatedAtMs) }
}
