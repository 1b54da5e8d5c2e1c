/** The routes of threads. */

import { copyThread, countThreads, createThread, deleteThread, getThread, getThreadStorage,
  pruneThreads, searchThreads, updateThread } from '../../api/index.ts'
import { leftSignal, sendJson, shareFor } from '../http/list-reply.ts'
import { threadJson, withTimeToLive } from '../http/render.ts'
import { sendPage } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { serve } from '../http/serve.ts'

/** Adds the routes of threads. Call after the checks, the guard and the body readers. */
export function threadRoutes(app: App, parts: RouteParts): void {
  recordRoutes(app, parts)
  collectionRoutes(app, parts)
}

function recordRoutes(app: App, { threads }: RouteParts): void {
  serve(app, createThread,
    async ({ body, caller }, reply) =>
      sendJson(reply, threadJson(await threads.create(caller, body))))
  serve(app, getThread, async ({ params, query, caller }, reply) => {
    const select = query.select?.length ? query.select : undefined
    const view = await threads.get(caller, params.thread_id, select)
    const json = threadJson(view, select)
    return sendJson(reply, query.include?.includes('ttl') ? withTimeToLive(json, view) : json)
  })
  serve(app, updateThread, async ({ params, body, headers, caller }, reply) => {
    const view = await threads.patch(caller, params.thread_id, body)
    if (/\breturn=minimal\b/.test(String(headers['prefer']))) return reply.code(204).send()
    return sendJson(reply, threadJson(view))
  })
  serve(app, deleteThread, async ({ params, caller }) => threads.delete(caller, params.thread_id))
  serve(app, copyThread, async ({ params, body, caller }, reply) => {
    const { checkpoint_id: checkpointId } = body
    const copy = threads.copy(caller, params.thread_id, checkpointId ?? undefined)
    return sendJson(reply, threadJson(await copy))
  })
  serve(app, getThreadStorage,
    async ({ params, caller }, reply) =>
      sendJson(reply, await threads.storage(caller, params.thread_id, leftSignal(reply))))
}

function collectionRoutes(app: App, { threads }: RouteParts): void {
  serve(app, pruneThreads,
    async ({ body, caller }, reply) =>
      sendJson(reply, JSON.stringify(await threads.prune(caller, body))))
  serve(app, searchThreads, async ({ body, caller }, reply) => {
    const { threads: rows, total, cursor } = await threads.search(caller, body, {
      share: shareFor(reply),
      cancelled: leftSignal(reply),
    })
    const json = (view: typeof rows[number]) => threadJson(view, body.select)
    // The offset of a page behind a cursor is not known.
    const offset = body.cursor == null ? body.offset ?? 0 : total
    return sendPage(reply, { rows, json, total, offset, cursor })
  })
  serve(app, countThreads, async ({ body, caller }, reply) =>
    sendJson(reply, body.by === 'status'
      ? JSON.stringify(await threads.countByStatus(caller, body, leftSignal(reply)))
      : String(await threads.count(caller, body, leftSignal(reply)))))
}
