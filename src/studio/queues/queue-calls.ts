/** Calls about annotation queues and their items. */

import { queryOptions } from '@tanstack/react-query'

import type { Queue, QueueBody, QueueItem } from '../../api/index.ts'
import { ask, askPage } from '../api/ask.ts'

/** An item that is a run. */
export type RunItem = QueueItem & { readonly run_id: string }

/** Queues of a page. */
const queuesAtOnce = 100

/** The first queues whose names contain a text. */
export const queueList = (q: string) =>
  queryOptions({
    queryKey: ['queues', 'list', q],
    queryFn: async ({ signal }) => {
      const { data, headers } = await askPage('GET /api/v1/annotation-queues', { signal,
        query: { limit: queuesAtOnce, ...q !== '' && { name_contains: q } } })
      return { queues: data, total: Number(headers.get('x-pagination-total') ?? data.length) }
    },
  })

/** Query of one annotation queue by its id. */
export const queueQuery = (id: string) =>
  queryOptions({
    queryKey: ['queues', id],
    queryFn: ({ signal }) => ask('GET /api/v1/annotation-queues/:id', { params: { id }, signal }),
  })

/** Makes a queue, or changes one. */
export const saveQueue = (id: string | undefined,
  body: QueueBody & Pick<Queue, 'name'>): Promise<Pick<Queue, 'id'>> =>
  id === undefined
    ? ask('POST /api/v1/annotation-queues', { body })
    : ask('PATCH /api/v1/annotation-queues/:id', { params: { id }, body })

/** Deletes a queue with all its items. The runs stay. */
export const deleteQueue = (id: string) =>
  ask('DELETE /api/v1/annotation-queues/:id', { params: { id } })

/** The item that is looked at, and how many are left; null behind the last one. */
export const itemQuery = (queue: string, at: number) =>
  queryOptions({
    queryKey: ['queues', queue, 'item', at],
    queryFn: async ({ signal }) => {
      const status = 'needs_my_review'
      const params = { queue }
      const [{ items }, { count }, done] = await Promise.all([
        ask('GET /api/v1/platform/annotation-queues/:queue/items', { params, signal,
          query: { status, item_type: 'RUN', page_size: 1, cursor: String(at) } }),
        ask('GET /api/v1/platform/annotation-queues/:queue/items/count', { params, signal,
          query: { status } }),
        ask('GET /api/v1/platform/annotation-queues/:queue/items/count', { params, signal,
          query: { status: 'archived' } }),
      ])
      return { item: items.find(isRun) ?? null, left: count, done: done.count }
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
  ask('POST /api/v1/platform/annotation-queues/items/:item/status', { params: { item },
    body: { status } })

/** Adds runs of traces to a queue, 1 000 at most. */
export const addRunsToQueue = (queue: string, runs: readonly string[]) =>
  ask('POST /api/v1/annotation-queues/:queue/runs', { params: { queue }, body: [...runs] })

/** Takes an item out of a queue. */
export const removeItem = (queue: string, item: string) =>
  ask('POST /api/v1/platform/annotation-queues/:queue/items/delete', { params: { queue },
    body: { item_ids: [item] } })

function isRun(item: QueueItem): item is RunItem {
  return item.run_id !== undefined
}
