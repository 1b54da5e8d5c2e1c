/** Routes of runs in annotation queues: whole runs, with what became of their items. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { addQueueRuns, addQueueRunsByKey, countAllQueueRuns, countArchivedRuns, countQueueRuns,
  deleteQueueRun, deleteQueueRuns, getQueueRun, listQueueRuns, patchQueueRun,
  populateQueue } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import { readUuid } from '../../../platform/index.ts'
import type { ItemView, Platform, Queue, Section, Uuid } from '../../../platform/index.ts'
import { leftSignal } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { Handler } from '../../http/serve.ts'
import { attachmentLinks } from '../links.ts'
import { requireId } from '../path-id.ts'
import { projectsOf, sendBytes } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { changeOf, itemJson, msOf } from './queue-items.ts'
import { reviewerOf, timeJson } from './queues.ts'

/** Runs that are added at once. */
const addedMax = 1_000

/** Adds the routes that add, list, count, change and delete runs of queues, and fill queues. */
export function queueRunRoutes(app: App, { platform }: PlatformParts): void {
  additionRoutes(app, platform)
  listRoutes(app, platform)
  countRoutes(app, platform)
  changeRoutes(app, platform)
}

/** A request whose path names a queue. */
type QueueRequest = FastifyRequest<{ Params: { readonly queue: string } }>

/** The queue that a path names. Throws `not_found`. */
function queueOf({ queues }: Platform,
  { params, caller }: Pick<QueueRequest, 'params' | 'caller'>): Promise<Queue> {
  return queues.get(caller.tenant, requireId(params.queue, 'annotation queue'))
}

function additionRoutes(app: App, platform: Platform): void {
  const { queues } = platform
  const add: Handler<typeof addQueueRuns> = async (request) => {
    const { id } = await queueOf(platform, request)
    const added = await queues.add(request.caller.tenant, id, runsIn(request.body))
    return added.map((item) => itemJson(id, item))
  }
  serve(app, addQueueRuns, add)
  serve(app, addQueueRunsByKey, add)

  serve(app, populateQueue, async (request, reply) => {
    const { body: { queue_id: queue, session_ids: sessions }, caller: { tenant } } = request
    await queues.get(tenant, queue)
    const projects = await projectsOf(platform, request, sessions)
    if (projects.length < new Set(sessions).size) {
      throw new HeddleError('not_found', 'There is no such project.')
    }
    for (const project of projects) {
      const roots = await platform.query.spanIds({ tenant, projects: [project], version: 2,
        order: 'oldest', limit: addedMax, rootsOnly: true }, { signal: leftSignal(reply) })
      await queues.add(tenant, queue, roots)
    }
    return { message: 'The runs are added.' }
  })
}

function listRoutes(app: App, platform: Platform): void {
  const { queues } = platform

  serve(app, listQueueRuns, async (request, reply) => {
    const { query: { status: wanted, archived, limit = 100, offset = 0 }, caller } = request
    const queue = await queueOf(platform, request)
    const section = archived ? 'archived' : sectionOf(wanted)
    const { items, total } = await queues.items(caller.tenant, queue, { type: 'RUN', offset, limit,
      reviewer: reviewerOf(request), ...section && { section } })
    reply.header('x-pagination-total', total)
    return sendBytes(reply, await runsOf(platform, request, reply, { queue: queue.id, items }))
  })

  serve(app, getQueueRun, async (request, reply) => {
    const queue = await queueOf(platform, request)
    const { items } = await queues.items(request.caller.tenant, queue, { type: 'RUN', limit: 1,
      offset: indexIn(request.params.index), section: 'needs_my_review',
      reviewer: reviewerOf(request) })
    const list = await runsOf(platform, request, reply, { queue: queue.id, items })
    // The list has one run, or none.
    if (list.byteLength > 2) return sendBytes(reply, list.slice(1, -1))
    throw new HeddleError('not_found', items.length === 0
      ? 'The annotation queue has no such run.'
      : 'The run is gone: its trace was deleted, or is too old.')
  })
}

/** The runs of items, as a list. */
async function runsOf(platform: Platform, request: FastifyRequest, reply: FastifyReply,
  { queue, items }: { readonly queue: Uuid; readonly items: readonly ItemView[] }
): Promise<
  Uint8Array
> {
  const projects = await projectsOf(platform, request, [
    ...new Set(items.map(({ subject }) => subject.project)),
  ])
  return platform.query.listedRuns({ tenant: request.caller.tenant, projects,
    links: await attachmentLinks(platform, request),
    runs: items.flatMap((item) =>
      item.subject.type === 'RUN'
        ? [{ id: item.subject.run, moreJson: JSON.stringify(runMembers(queue, item)) }]
        : []
    ) }, { signal: leftSignal(reply) })
}

function countRoutes(app: App, platform: Platform): void {
  const { queues } = platform
  const count = async (request: QueueRequest,
    question: Partial<Parameters<typeof queues.items>[2]>) => {
    const queue = await queueOf(platform, request)
    const { total } = await queues.items(request.caller.tenant, queue, { type: 'RUN', ...question,
      offset: 0, limit: 0, reviewer: reviewerOf(request) })
    return { size: total }
  }
  serve(app, countQueueRuns,
    async (request) =>
      count(request, { section: sectionOf(request.query.status) ?? 'needs_my_review' }))
  serve(app, countAllQueueRuns, async (request) => count(request, {}))
  serve(app, countArchivedRuns, async (request) => {
    const { query: { start_time: from, end_time: to } } = request
    const [after, before] = [msOf('start_time', from), msOf('end_time', to)]
    return count(request, { section: 'archived',
      ...after !== undefined && { archivedAfterMs: after },
      ...before !== undefined && { archivedBeforeMs: before } })
  })
}

function changeRoutes(app: App, platform: Platform): void {
  const { queues } = platform

  serve(app, patchQueueRun, async (request) => {
    const { id } = await queueOf(platform, request)
    const run = requireId(request.params.run, 'run')
    await queues.change(request.caller.tenant, id, run, changeOf(request.body))
    return { message: 'The run is changed.' }
  })

  serve(app, deleteQueueRun, async (request) => {
    const { id } = await queueOf(platform, request)
    await queues.remove(request.caller.tenant, id, [requireId(request.params.run, 'run')])
    return { message: 'The run is removed.' }
  })

  serve(app, deleteQueueRuns, async (request) => {
    const { body: { delete_all: isAll, run_ids: runs, exclude_run_ids: kept }, caller } = request
    const { id } = await queueOf(platform, request)
    await queues.remove(caller.tenant, id, (isAll ? kept : runs) ?? [], isAll ?? false)
    return { message: 'The runs are removed.' }
  })
}

const sectionOf = (wanted: string | undefined): Section | undefined =>
  wanted === 'completed' ? 'archived' : wanted as Section | undefined

/** The ids of runs in a list of ids or of objects. Throws `invalid`. */
function runsIn(body: unknown): readonly Uuid[] {
  const list: readonly unknown[] = Array.isArray(body) ? body : [null]
  if (list.length > addedMax) {
    throw new HeddleError('too_large', `Add ${addedMax} runs at most at once.`)
  }
  return list.map((each, index) => {
    const run = readUuid(isObject(each) ? each['run_id'] : each)
    if (run !== undefined) return run
    throw new HeddleError('invalid', `The body is a list of ids of runs, or of objects with a ` +
      `run_id; number ${index} is neither.`)
  })
}

function indexIn(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new HeddleError('not_found', 'The annotation queue has no such run.')
}

/** Members that a run has in a queue, besides its own. */
function runMembers(queue: Uuid, item: ItemView): object {
  const { id, queue_id, added_at, last_reviewed_time, source_proposed_example_id } = itemJson(queue,
    item)
  return { queue_run_id: id, queue_id, added_at, last_reviewed_time, source_proposed_example_id,
    effective_added_at: timeJson(item.placeMs), completed_by: item.completedBy,
    reserved_by: item.reservedBy }
}
