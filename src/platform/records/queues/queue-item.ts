/**
 * Items of annotation queues, and the work of reviewers on them.
 *
 * An item is a document, written once. The verdict of each reviewer is a document of its own beside
 * it, so that no two reviewers write the same one. Pure.
 */

import { namedId } from '../catalog/named-id.ts'
import type { Document } from '../../spans/document-port.ts'
import type { Uuid } from '../../spans/span.ts'

/** Subject of an item: a run, or a conversation. */
export type Subject =
  | { readonly type: 'RUN'; readonly project: Uuid; readonly run: Uuid; readonly trace: Uuid }
  | { readonly type: 'THREAD'; readonly project: Uuid; readonly thread: string }

/** An item, as its document has it. */
export interface StoredItem {
  readonly subject: Subject
  readonly addedMs: number
  /** Start of the run in microseconds; null if it is not known. */
  readonly startUs: number | null
  /** The suggested example that it was made from. */
  readonly source: Uuid | null
}

/** Change of an item by a caller. */
export interface ItemChange {
  readonly addedMs?: number
  readonly reviewedMs?: number
}

/** Verdict of a reviewer on an item; null takes it back. */
export interface ReviewerStatus {
  readonly status: 'viewed' | 'completed' | null
  readonly atMs: number
  /** Time by which the item is sorted for this reviewer. */
  readonly addedMs?: number
}

/** An item with the verdicts of all reviewers. */
export interface QueueItem extends StoredItem {
  readonly id: Uuid
  readonly reviewedMs: number | null
  /** By reviewer. */
  readonly statuses: ReadonlyMap<Uuid, ReviewerStatus>
}

/** Rules by which a queue assigns items to reviewers. */
export interface ReviewRules {
  readonly reviewers: number
  /**
   * Milliseconds for which a reviewer who looks at an item keeps others from it; 0 for no
   * reservation.
   */
  readonly reservedMs: number
}

/** The list of a reviewer in which an item is. */
export type Section = 'needs_my_review' | 'needs_others_review' | 'archived'

/** Items that a queue holds at most. */
export const queueItemsMax = 10_000

/** The id of an item: a queue has each run and each conversation once. */
export function itemId(queue: Uuid, subject: Subject): Uuid {
  return subject.type === 'RUN'
    ? runItemId(queue, subject.run)
    : namedId('queueItem', JSON.stringify([queue, subject.project, subject.thread]))
}

/** The id of the item of a run. */
export function runItemId(queue: Uuid, run: Uuid): Uuid {
  return namedId('queueItem', JSON.stringify([queue, run]))
}

const changeMark = '!'

/** Key of the document with the changes of an item. */
export function changeKey(item: Uuid): string {
  return `${item}/${changeMark}`
}

/** Key of the document with a reviewer's verdict. */
export function statusKey(item: Uuid, reviewer: Uuid): string {
  return `${item}/${reviewer}`
}

/** The document of a value. */
export function documentOf(key: string, value: StoredItem | ItemChange | ReviewerStatus): Document {
  return { key, body: Buffer.from(JSON.stringify(value)) }
}

/** Items from documents in the order of their keys: each is followed by what was done with it. */
export function itemsOf(documents: Iterable<Document>): readonly QueueItem[] {
  const items: QueueItem[] = []
  let statuses = new Map<Uuid, ReviewerStatus>()
  for (const { key, body } of documents) {
    const [id, part] = key.split('/') as [Uuid, string?]
    const value: unknown = JSON.parse(Buffer.from(body).toString())
    const last = items.at(-1)
    if (part === undefined) {
      statuses = new Map()
      items.push({ ...value as StoredItem, id, reviewedMs: null, statuses })
    } else if (last?.id !== id) {
      // It was written while the item was removed.
    } else if (part === changeMark) {
      items[items.length - 1] = { ...last, ...value as ItemChange }
    } else {
      statuses.set(part, value as ReviewerStatus)
    }
  }
  return items
}

/** Returns the reviewers who have completed an item. */
export function completersOf({ statuses }: QueueItem): readonly Uuid[] {
  return [...statuses].filter(([, { status }]) => status === 'completed')
    .map(([reviewer]) => reviewer)
}

/**
 * Returns the reviewers who hold a reservation of an item. `nowMs` comes from a cautious clock. A
 * reservation that was made under a clock that was ahead does not count.
 */
export function holdersOf({ statuses }: QueueItem, { reservedMs }: ReviewRules,
  nowMs: number): readonly Uuid[] {
  if (reservedMs === 0) return []
  return [...statuses].filter(([, { status, atMs }]) =>
    status === 'viewed' && Math.abs(nowMs - atMs) <= reservedMs
  ).map(([reviewer]) => reviewer)
}

/** The list of the reviewer that an item is in; undefined while others look at it. */
export function sectionOf(item: QueueItem, reviewer: Uuid, rules: ReviewRules, nowMs: number):
  | Section
  | undefined {
  const { reviewers } = rules
  const done = completersOf(item)
  if (done.length >= reviewers) return 'archived'
  if (done.includes(reviewer)) return 'needs_others_review'
  const others = holdersOf(item, rules, nowMs).filter((each) => each !== reviewer)
  return done.length + others.length >= reviewers ? undefined : 'needs_my_review'
}

/** Time at which an item was finished: the last of its needed reviewers completed it. */
export function archivedMs(item: QueueItem): number {
  const times = [...item.statuses.values()].filter(({ status }) => status === 'completed')
    .map(({ atMs }) => atMs)
  return Math.max(0, ...times)
}

/** The time by which an item stands in the list of a reviewer. */
export function placeMs({ addedMs, statuses }: QueueItem, reviewer: Uuid): number {
  return statuses.get(reviewer)?.addedMs ?? addedMs
}
