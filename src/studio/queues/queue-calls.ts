/** Annotation queues and their items, as the API has them, and the calls about them. */

import { queryOptions } from '@tanstack/react-query'

import { ask, askPage, post, send } from '../api/client.ts'

/** A key that reviewers score. */
export interface RubricItem {
  readonly feedback_key: string
  readonly description?: string | null
}

/** What people are asked to look at. */
export interface Queue {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly total_runs: number
  readonly created_at: string
  readonly rubric_instructions: string | null
  readonly rubric_items: readonly RubricItem[] | null
  readonly num_reviewers_per_item: number | null
  /** Where examples that are made while reviewing go. */
  readonly default_dataset: string | null
  readonly enable_reservations: boolean | null
  /** How long a run that one reviewer looks at is kept from the others. */
  readonly reservation_minutes: number | null
}

/** What a form says of a queue. */
export type QueueChange = Pick<Queue,
  | 'name'
  | 'description'
  | 'rubric_instructions'
  | 'rubric_items'
  | 'num_reviewers_per_item'
  | 'default_dataset'
  | 'enable_reservations'> & Partial<Pick<Queue, 'reservation_minutes'>>

/** A run that is to be looked at. */
export interface QueueItem {
  readonly id: string
  readonly run_id: string
  readonly project_id: string
  readonly added_at: string
}

const root = '/api/v1/annotation-queues'
const itemRoot = '/api/v1/platform/annotation-queues'

/** Queues of a page. */
const queuesAtOnce = 100

/** The first queues whose names contain a text. */
export const queueList = (q: string) =>
  queryOptions({
    queryKey: ['queues', 'list', q],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ limit: String(queuesAtOnce),
        ...q !== '' && { name_contains: q } })
      const { data, headers } = await askPage<Queue[]>(`${root}?${query}`, { signal })
      return { queues: data, total: Number(headers.get('x-pagination-total') ?? data.length) }
    },
  })

/** A queue. */
export const queueQuery = (id: string) =>
  queryOptions({
    queryKey: ['queues', id],
    queryFn: ({ signal }) => ask<Queue>(`${root}/${id}`, { signal }),
  })

/** Makes a queue, or changes one. */
export const saveQueue = (id: string | undefined, change: QueueChange) =>
  id === undefined
    ? post<Queue>(root, change)
    : ask<Queue>(`${root}/${id}`, { method: 'PATCH', body: change })

/** Deletes a queue with all its items. The runs stay. */
export const deleteQueue = (id: string) => send(`${root}/${id}`, { method: 'DELETE' })

/** The item that is looked at, and how many are left; null behind the last one. */
export const itemQuery = (queue: string, at: number) =>
  queryOptions({
    queryKey: ['queues', queue, 'item', at],
    queryFn: async ({ signal }) => {
      const asked = 'status=needs_my_review'
      const [{ items }, { count }, done] = await Promise.all([
        ask<{ items: readonly QueueItem[] }>(
          `${itemRoot}/${queue}/items?${asked}&item_type=RUN&page_size=1&cursor=${at}`,
          { signal },
        ),
        ask<{ count: number }>(`${itemRoot}/${queue}/items/count?${asked}`, { signal }),
        ask<{ count: number }>(`${itemRoot}/${queue}/items/count?status=archived`, { signal }),
      ])
      return { item: items[0] ?? null, left: count, done: done.count }
    },
  })

/** Keeps an item from other reviewers while it is looked at: again before that time is over. */
export const reservation = ({ id, enable_reservations: isOn, reservation_minutes: minutes }: Queue,
  item: string) =>
  queryOptions({
    queryKey: ['reservations', id, item],
    queryFn: () => setItemStatus(item, 'viewed'),
    enabled: isOn !== false,
    refetchInterval: (minutes ?? 1) * 45_000,
    retry: false,
    gcTime: 0,
  })

/** Says that an item is looked at, or done, or takes that back. */
export const setItemStatus = (item: string, status: 'viewed' | 'completed' | null) =>
  post(`${itemRoot}/items/${item}/status`, { status })

/** Takes an item out of a queue. */
export const removeItem = (queue: string, item: string) =>
  post(`${itemRoot}/${queue}/items/delete`, { item_ids: [item] })
