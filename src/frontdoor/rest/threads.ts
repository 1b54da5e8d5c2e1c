/** The routes of threads. */

import { leftSignal, sendJson, shareFor } from '../http/list-reply.ts'
import { threadJson, withTimeToLive } from '../http/render.ts'
import { route, sendPage } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { CopyThread, CountThreads, CreateThread, PatchThread, PatchThreadHeaders, PruneThreads,
  ReadThread, SearchThreads, ThreadPath } from '../schema/thread.ts'

const tag = 'Threads'
const one = { tag, params: ThreadPath, answer: 'Thread' } as const

/** Adds the routes of threads. Call after the checks, the guard and the body readers. */
export function threadRoutes(app: App, { threads }: RouteParts): void {
  app.post('/threads',
    route('change', 'createThread', { tag, summary: 'Create a thread', body: CreateThread,
      answer: 'Thread' }),
    async ({ body, caller }, reply) =>
      sendJson(reply, threadJson(await threads.create(caller.tenant, body))))

  app.get('/threads/:thread_id',
    route('read', 'getThread', { ...one, querystring: ReadThread, summary: 'Get a thread' }),
    async ({ params, query, caller }, reply) => {
      const select = query.select?.length ? query.select : undefined
      const view = await threads.get(caller.tenant, params.thread_id, select)
      const json = threadJson(view, select)
      return sendJson(reply, query.include?.includes('ttl') ? withTimeToLive(json, view) : json)
    })

  app.patch('/threads/:thread_id',
    route('change', 'updateThread', { ...one, body: PatchThread, headers: PatchThreadHeaders,
      silent: { 204: 'Done, if `Prefer` asks for no body.' }, summary: 'Update a thread' }),
    async ({ params, body, headers, caller }, reply) => {
      const view = await threads.patch(caller.tenant, params.thread_id, body)
      if (/\breturn=minimal\b/.test(String(headers.prefer))) return reply.code(204).send()
      return sendJson(reply, threadJson(view))
    })

  app.delete('/threads/:thread_id',
    route('change', 'deleteThread', { tag, params: ThreadPath,
      summary: 'Delete a thread with its runs and its history' }),
    async ({ params, caller }, reply) => {
      await threads.delete(caller.tenant, params.thread_id)
      return reply.code(204).send()
    })

  app.post('/threads/:thread_id/copy',
    route('change', 'copyThread', { ...one, body: CopyThread,
      summary: 'Copy a thread with its history, as it is or as it was at a checkpoint' }),
    async ({ params, body, caller }, reply) => {
      const { checkpoint_id: checkpointId } = body
      const copy = threads.copy(caller.tenant, params.thread_id, checkpointId ?? undefined)
      return sendJson(reply, threadJson(await copy))
    })

  app.post('/threads/prune',
    route('change', 'pruneThreads', { tag, body: PruneThreads, answer: 'PrunedThreads',
      summary: 'Delete threads, or drop their history; busy and unknown ones stay' }),
    async ({ body, caller }, reply) =>
      sendJson(reply, JSON.stringify(await threads.prune(caller.tenant, body))))

  app.get('/threads/:thread_id/storage',
    route('read', 'getThreadStorage', { tag, params: ThreadPath, answer: 'ThreadStorage',
      summary: 'Get the number of bytes that a thread takes' }),
    async ({ params, caller }, reply) =>
      sendJson(reply, await threads.storage(caller.tenant, params.thread_id, leftSignal(reply))))

  app.post('/threads/search',
    route('read', 'searchThreads', { tag, summary: 'Search threads', body: SearchThreads,
      answer: 'FoundThread[]',
      returns: ['x-pagination-total', 'x-pagination-next', 'x-pagination-cursor'] }),
    async ({ body, caller }, reply) => {
      const { threads: rows, total, cursor } = await threads.search(caller.tenant, body, {
        share: shareFor(reply),
        cancelled: leftSignal(reply),
      })
      const json = (view: typeof rows[number]) => threadJson(view, body.select)
      // The offset of a page behind a cursor is not known.
      const offset = body.cursor == null ? body.offset ?? 0 : total
      return sendPage(reply, { rows, json, total, offset, cursor })
    })

  app.post('/threads/count',
    route('read', 'countThreads', { tag, summary: 'Count threads', body: CountThreads,
      answer: 'CountOfThreads' }),
    async ({ body, caller }, reply) =>
      sendJson(reply, body.by === 'status'
        ? JSON.stringify(await threads.countByStatus(caller.tenant, body, leftSignal(reply)))
        : String(await threads.count(caller.tenant, body, leftSignal(reply)))))
}
