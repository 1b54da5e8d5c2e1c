/** Long-term memory: items in namespaces, of all threads of a tenant. */

export { itemKind, itemKindName, itemWire } from './item-actor.ts'
export type { ItemOperation, ItemResult, ScoredItem } from './item-operation.ts'
export { fault } from './item-rules.ts'
export { ItemStore } from './item-store.ts'
export type { ItemSettings } from './item-store.ts'
export { sweepItems } from './item-sweep.ts'
export { isSeenItem } from './seen-item.ts'
export type { Embed, VectorIndex } from './item-vectors.ts'
export type { Item, ItemPlace } from './item.ts'
