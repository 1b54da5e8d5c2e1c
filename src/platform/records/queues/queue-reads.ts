/** Answers of the query thread about items of annotation queues. */

import { HeddleError } from '../../../errors.ts'
import type { Document, DocumentPlace, DocumentPort } from '../../spans/document-port.ts'
import { documentPage } from '../../spans/document-port.ts'
import type { Uuid } from '../../spans/span.ts'
import { archivedMs, completersOf, holdersOf, itemsOf, placeMs, sectionOf } from './queue-item.ts'
import type { QueueItem, ReviewRules, Section, StoredItem } from './queue-item.ts'

/** Choice of items of a queue, in the order in which they were added. All conditions hold. */
export interface ItemsQuestion {
  readonly tenant: string
  readonly queue: Uuid
  readonly reviewer: Uuid
  readonly rules: ReviewRules
  readonly nowMs: number
  /** List of the reviewer; absent for all lists. */
  readonly section?: Section
  readonly type?: 'RUN' | 'THREAD'
  /** Bound on the start of the run. */
  readonly fromUs?: number
  readonly toUs?: number
  /** Time after which the item was finished. */
  readonly archivedAfterMs?: number
  readonly archivedBeforeMs?: number
  /** Ids of the wanted items. Their positions are those among all items. */
  readonly ids?: readonly Uuid[]
  readonly offset: number
  readonly limit: number
}

/** An item as one reviewer sees it. */
export interface ItemView extends StoredItem {
  readonly id: Uuid
  readonly reviewedMs: number | null
  readonly section: Section | null
  readonly placeMs: number
  /** Position in the list that was asked for, from 0. */
  readonly position: number
  readonly completedBy: readonly Uuid[]
  readonly reservedBy: readonly Uuid[]
}

/** A page of items, and how many there are in all pages. */
export interface ItemsPage {
  readonly items: readonly ItemView[]
  readonly total: number
}

/** Questions about items, for the query thread. */
export interface QueueReads {
  queueItems(question: ItemsQuestion): Promise<ItemsPage>
  /** Those of these items that exist. */
  knownItems(
    question: { readonly tenant: string;
      readonly items: readonly { readonly queue: Uuid; readonly item: Uuid }[] },
  ): Promise<readonly { readonly queue: Uuid; readonly item: Uuid }[]>
  /** Keys of all documents of these items; without `items`, of all but `except`. */
  itemKeys(
    question: { readonly tenant: string; readonly queue: Uuid; readonly items?: readonly Uuid[];
      readonly except?: readonly Uuid[] },
  ): Promise<readonly string[]>
}

/** Documents of a queue that are looked at: reviewers may have said something of each item. */
const documentsMax = 200_000

/** The handlers over the documents of a store. */
export function queueReads(store: DocumentPort): QueueReads {
  return {
    queueItems: async (question) => {
      const { tenant, queue, offset, limit, ids } = question
      const items = itemsOf(await all(store, { tenant, kind: 'queue_run', owner: queue }))
        .map((item) => viewOf(item, question))
        .filter(({ view, item }) => isAsked(view, item, question))
        .map(({ view }) => view)
        .sort((a, b) => a.placeMs - b.placeMs || (a.id < b.id ? -1 : 1))
        .map((view, position): ItemView => ({ ...view, position }))
      const named = ids && new Set(ids)
      const asked = named === undefined ? items : items.filter(({ id }) => named.has(id))
      return { items: asked.slice(offset, offset + limit), total: asked.length }
    },
    knownItems: async ({ tenant, items }) => {
      const byQueue = Map.groupBy(items, ({ queue }) => queue)
      const found = await Promise.all([...byQueue].map(async ([queue, own]) => {
        const place: DocumentPlace = { tenant, kind: 'queue_run', owner: queue }
        const known = await store.getDocuments(place, own.map(({ item }) => item))
        return known.map(({ key }) => ({ queue, item: key }))
      }))
      return found.flat()
    },
    itemKeys: async ({ tenant, queue, items, except }) => {
      const place: DocumentPlace = { tenant, kind: 'queue_run', owner: queue }
      if (items === undefined) {
        const kept = new Set(except)
        return (await all(store, place)).map(({ key }) => key)
          .filter((key) => !kept.has(key.split('/')[0]!))
      }
      const found = await Promise.all(items.map(async (item) => {
        // All of an item's other keys begin with its id and a slash.
        const said = await all(store, place, { after: item, before: `${item}0` })
        return [item, ...said.map(({ key }) => key)]
      }))
      return found.flat()
    },
  }
}

async function all(store: DocumentPort, place: DocumentPlace,
  range: { readonly after?: string; readonly before?: string } = {}): Promise<readonly Document[]> {
  const found: Document[] = []
  for (let after = range.after;;) {
    const page = await store.listDocuments(place, { ...range, limit: documentPage.documents,
      ...after !== undefined && { after } })
    found.push(...page)
    if (found.length > documentsMax) {
      throw new HeddleError('too_large', 'This queue is too long: remove items that are done.')
    }
    if (page.length === 0) return found
    after = page.at(-1)!.key
  }
}

function viewOf(item: QueueItem, { reviewer, rules, nowMs }: ItemsQuestion) {
  const { statuses: _, ...stored } = item
  const view: Omit<ItemView, 'position'> = {
    ...stored,
    section: sectionOf(item, reviewer, rules, nowMs) ?? null,
    placeMs: placeMs(item, reviewer),
    completedBy: completersOf(item),
    reservedBy: holdersOf(item, rules, nowMs),
  }
  return { view, item }
}

function isAsked({ section, subject, startUs }: Omit<ItemView, 'position'>, item: QueueItem,
  asked: ItemsQuestion): boolean {
  const { fromUs, toUs, archivedAfterMs: after, archivedBeforeMs: before } = asked
  if (asked.section !== undefined && section !== asked.section) return false
  if (asked.type !== undefined && subject.type !== asked.type) return false
  const hasBounds = fromUs !== undefined || toUs !== undefined
  if (hasBounds && startUs === null) return false
  if (hasBounds && (startUs! < (fromUs ?? -Infinity) || startUs! > (toUs ?? Infinity))) return false
  if (after === undefined && before === undefined) return true
  const endMs = archivedMs(item)
  return endMs > (after ?? -Infinity) && endMs < (before ?? Infinity)
}
