/** The routes of crons. */

import { leftSignal, sendJson, shareFor } from '../http/list-reply.ts'
import { cronJson } from '../http/render.ts'
import { route, sendPage } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { CountCrons, CreateCron, CronPath, PatchCron, SearchCrons } from '../schema/cron.ts'
import { CreationHeaders } from '../schema/run.ts'
import { ThreadPath } from '../schema/thread.ts'
import { runCallerOf } from './run-reply.ts'

const tag = 'Crons'
const one = { tag, params: CronPath } as const

/** Adds the routes of crons. */
export function cronRoutes(app: App, { crons }: Pick<RouteParts, 'crons'>): void {
  app.post('/runs/crons',
    route('change', 'createCron', { tag, headers: CreationHeaders, body: CreateCron, answer: 'Cron',
      summary: 'Create a cron whose runs have threads of their own' }), async (request, reply) => {
    const { body, caller } = request
    const row = await crons.create(caller.tenant, null, body, runCallerOf(request))
    return sendJson(reply, cronJson(row))
  })

  app.post('/threads/:thread_id/runs/crons',
    route('change', 'createThreadCron', { tag, params: ThreadPath, headers: CreationHeaders,
      body: CreateCron, answer: 'Cron', summary: 'Create a cron whose runs are on a thread' }),
    async (request, reply) => {
      const { body, params, caller } = request
      const row = await crons.create(caller.tenant, params.thread_id, body, runCallerOf(request))
      return sendJson(reply, cronJson(row))
    })

  app.get('/runs/crons/:cron_id',
    route('read', 'getCron', { ...one, answer: 'Cron', summary: 'Get a cron' }),
    async ({ params, caller }, reply) =>
      sendJson(reply, cronJson(await crons.get(caller.tenant, params.cron_id))))

  app.patch('/runs/crons/:cron_id',
    route('change', 'updateCron', { ...one, body: PatchCron, answer: 'Cron',
      summary: 'Update a cron' }),
    async ({ params, body, caller }, reply) =>
      sendJson(reply, cronJson(await crons.patch(caller.tenant, params.cron_id, body))))

  app.delete('/runs/crons/:cron_id',
    route('change', 'deleteCron', { ...one, summary: 'Delete a cron; its runs stay' }),
    async ({ params, caller }, reply) => {
      await crons.delete(caller.tenant, params.cron_id)
      return reply.code(204).send()
    })

  app.post('/runs/crons/search',
    route('read', 'searchCrons', { tag, body: SearchCrons, answer: 'FoundCron[]',
      summary: 'Search crons', returns: ['x-pagination-total', 'x-pagination-next'] }),
    async ({ body, caller }, reply) => {
      const { rows, total, nowMs } = await crons.search(caller.tenant, body, leftSignal(reply))
      takeRows(shareFor(reply), rows)
      const json = (row: typeof rows[number]) => cronJson(row, body.select, nowMs)
      return sendPage(reply, { rows, json, total, offset: body.offset ?? 0 })
    })

  app.post('/runs/crons/count',
    route('read', 'countCrons', { tag, summary: 'Count crons', body: CountCrons, answer: 'Count' }),
    async ({ body, caller }, reply) =>
      sendJson(reply, String(await crons.count(caller.tenant, body, leftSignal(reply)))))
}
