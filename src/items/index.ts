/** Long-term memory: items in namespaces, of all threads of a tenant. */

export { itemKind, itemKindName, itemWire } from './item-actor.ts'
export { depthMax, fault, keyMax, labelMax } from './item-rules.ts'
export { ItemStore } from './item-store.ts'
export type { ItemSettings, ListNamespaces, PutItem, SearchItems } from './item-store.ts'
export { sweepItems, sweepOnce } from './item-sweep.ts'
export type { Embed, VectorIndex } from './item-vectors.ts'
export type { Item, ItemPlace } from './item.ts'
