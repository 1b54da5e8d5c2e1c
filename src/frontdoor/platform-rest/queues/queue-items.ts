/** Routes of items of annotation queues: runs and conversations, and what reviewers did. */

import { addQueueItems, countQueueItems, deleteQueueItems, listQueueItems, patchQueueItem,
  placeQueueItem, setItemStatus, setRunStatus } from '../../../api/index.ts'
import type { AddedQueueItem, Body, Query, QueueItem } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { readTimeUs, readUuid } from '../../../platform/index.ts'
import type { AddedItem, ItemView, NewItem, Platform, Uuid } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { Handler } from '../../http/serve.ts'
import { requireId } from '../path-id.ts'
import { projectOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { reviewerOf, timeJson } from './queues.ts'

/** Adds the routes that add, list, count, place, change and delete items, and set their status. */
export function queueItemRoutes(app: App, { platform }: PlatformParts): void {
  listRoutes(app, platform)
  changeRoutes(app, platform)
  statusRoutes(app, platform)
}

const queueIn = ({ queue }: { readonly queue: string }) => requireId(queue, 'annotation queue')

function listRoutes(app: App, platform: Platform): void {
  const { queues } = platform

  serve(app, listQueueItems, async (request) => {
    const { params, query, caller: { tenant } } = request
    const queue = await queues.get(tenant, queueIn(params))
    const limit = query.page_size ?? query.limit ?? 100
    const at = placeOf(query.cursor)
    const offset = query.direction === 'backward' ? Math.max(0, at - limit) : at
    const size = query.direction === 'backward' ? at - offset : limit
    const { items, total } = await queues.items(tenant, queue, { reviewer: reviewerOf(request),
      offset, limit: size, ...startsOf(query), ...query.status && { section: query.status },
      ...query.item_type && { type: query.item_type } })
    const end = offset + items.length
    return { items: items.map((item) => viewJson(queue.id, item)),
      next_cursor: end < total ? String(end) : null,
      prev_cursor: offset > 0 ? String(offset) : null }
  })

  serve(app, countQueueItems, async (request) => {
    const { params, query: { status = 'all', start_time: from, end_time: to, ...query },
      caller: { tenant } } = request
    const queue = await queues.get(tenant, queueIn(params))
    const section = status === 'all' ? undefined : status
    const ended = section === 'archived'
      ? { archivedAfterMs: msOf('start_time', from), archivedBeforeMs: msOf('end_time', to) }
      : {}
    const { total } = await queues.items(tenant, queue, { reviewer: reviewerOf(request), offset: 0,
      limit: 0, ...startsOf(query), ...section && { section }, ...known(ended) })
    return { count: total }
  })

  serve(app, placeQueueItem, async (request) => {
    const { params, caller: { tenant } } = request
    const queue = await queues.get(tenant, queueIn(params))
    const reviewer = reviewerOf(request)
    const { id: item, section, subject } = await queues.item(tenant, queue, reviewer,
      requireId(params.item, 'item'))
    const { items: [placed] } = await queues.items(tenant, queue, { reviewer, ids: [item],
      offset: 0, limit: 1, ...section && { section } })
    const position = placed?.position ?? 0
    return { item_type: subject.type, section: section ?? 'needs_others_review', position,
      cursor: String(position) }
  })
}

function changeRoutes(app: App, platform: Platform): void {
  const { queues } = platform

  serve(app, addQueueItems, async (request) => {
    const { params, body, caller: { tenant } } = request
    const queue = queueIn(params)
    const items = await queues.addItems(tenant, queue,
      await newItems(platform, tenant, request, body.items))
    return { items: items.map((item) => itemJson(queue, item)) }
  })

  serve(app, patchQueueItem, async (request) => {
    const { params, body, caller: { tenant } } = request
    const queue = await queues.get(tenant, queueIn(params))
    const item = requireId(params.item, 'item')
    await queues.change(tenant, queue.id, item, changeOf(body))
    return viewJson(queue.id, await queues.item(tenant, queue, reviewerOf(request), item))
  })

  serve(app, deleteQueueItems, async ({ params, body, caller: { tenant } }) => {
    await queues.remove(tenant, queueIn(params), body.item_ids)
    return { message: 'The items are removed.' }
  })
}

function statusRoutes(app: App, platform: Platform): void {
  const { queues } = platform
  const say: Handler<typeof setItemStatus> = async (request) => {
    const { params, body: { status = null, override_added_at: at }, caller: { tenant } } = request
    const item = requireId(params.item, 'item')
    const reviewer = reviewerOf(request)
    const added = msOf('override_added_at', at)
    const queue = await queues.setStatus(tenant, item, reviewer, { status,
      ...added !== undefined && { addedMs: added } })
    const { section } = await queues.item(tenant, queue, reviewer, item)
    return { queue_item_id: item, status, is_archived: section === 'archived',
      ...added !== undefined && { override_added_at: timeJson(added) } }
  }
  serve(app, setItemStatus, say)
  serve(app, setRunStatus, say)
}

/** Fields of an item that a body changes. Those that are null or absent stay. */
export function changeOf(
  { added_at: added, last_reviewed_time: reviewed }: Body<typeof patchQueueItem>,
) {
  return known({ addedMs: msOf('added_at', added),
    reviewedMs: msOf('last_reviewed_time', reviewed) })
}

/** Milliseconds of a time. Throws `invalid` for what is none. */
export function msOf(field: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const us = readTimeUs(value)
  if (us === undefined) throw new HeddleError('invalid', `${field} is no time.`)
  return Math.floor(us / 1_000)
}

/** An item of a run as older clients read it: also in the runs of a queue. */
export function itemJson(queue: Uuid, item: AddedItem & Partial<ItemView>): AddedQueueItem {
  const { id: item_id, subject, addedMs, startUs, source, reviewedMs = null } = item
  return {
    id: item_id,
    queue_id: queue,
    item_type: subject.type,
    project_id: subject.project,
    ...subject.type === 'RUN' ? { run_id: subject.run } : { thread_id: subject.thread },
    start_time: startUs === null ? null : timeJson(startUs / 1_000),
    source_proposed_example_id: source,
    added_at: timeJson(addedMs),
    last_reviewed_time: reviewedMs === null ? null : timeJson(reviewedMs),
  }
}

function viewJson(queue: Uuid, item: ItemView): QueueItem {
  return { ...itemJson(queue, item), completed_by: item.completedBy, reserved_by: item.reservedBy,
    effective_added_at: timeJson(item.placeMs) }
}

async function newItems(platform: PlatformParts['platform'], tenant: string,
  request: Parameters<typeof projectOf>[1],
  items: Body<typeof addQueueItems>['items']): Promise<readonly NewItem[]> {
  const runs = items.flatMap(({ run_id: run }) => readUuid(run) ?? [])
  const places = await platform.query.locate({ tenant, ids: [...new Set(runs)] })
  const placeOfRun = new Map(places.map((place) => [place.id, place]))
  const projects = new Set(
    (await platform.projects.get(tenant, [...new Set(places.map(({ project }) => project))]))
      .map((project) => project.id),
  )
  const found: NewItem[] = []
  for (const each of items) {
    const project = readUuid(each.project_id ?? each.session_id)
    const source = readUuid(each.source_proposed_example_id) ?? null
    const place = placeOfRun.get(readUuid(each.run_id) ?? '')
    if (place !== undefined && projects.has(place.project)) {
      const { project: own, id: run, trace, startUs } = place
      found.push({ subject: { type: 'RUN', project: own, run, trace }, startUs, source })
    } else if (each.item_type === 'THREAD' && each.thread_id && project) {
      await projectOf(platform, request, project)
      const subject = { type: 'THREAD', project, thread: each.thread_id } as const
      const us = each.start_time === undefined ? undefined : readTimeUs(each.start_time)
      found.push({ subject, source, ...us !== undefined && { startUs: us } })
    } else {
      throw new HeddleError('not_found', each.run_id
        ? `There is no run ${each.run_id}.`
        : 'An item needs a run_id, or a thread_id and a project_id.')
    }
  }
  return found
}

type Starts = Pick<Query<typeof listQueueItems>, 'min_start_time' | 'max_start_time'>

function startsOf({ min_start_time: min, max_start_time: max }: Starts) {
  const us = (field: string, value: unknown) => {
    const ms = msOf(field, value)
    return ms === undefined ? undefined : ms * 1_000
  }
  return known({ fromUs: us('min_start_time', min), toUs: us('max_start_time', max) })
}

function placeOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor)
  throw new HeddleError('invalid', 'cursor: this is none of a list of items.')
}

function known<Value extends object>(
  value: Value,
): { [Name in keyof Value]?: Exclude<Value[Name], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as never
}
