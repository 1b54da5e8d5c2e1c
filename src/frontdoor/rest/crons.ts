/** The routes of crons. */

import { countCrons, createCron, createThreadCron, deleteCron, getCron, lastCronRuns, previewCron,
  searchCrons, triggerCron, updateCron } from '../../api/index.ts'
import { timeText } from '../../json/index.ts'
import { leftSignal, sendJson, shareFor } from '../http/list-reply.ts'
import { cronJson, lastRunJson } from '../http/render.ts'
import { sendPage } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { serve } from '../http/serve.ts'
import { runCallerOf } from './run-reply.ts'

/** Adds the routes of crons. */
export function cronRoutes(app: App, { crons }: Pick<RouteParts, 'crons'>): void {
  serve(app, createCron, async (request, reply) => {
    const { body, caller } = request
    const row = await crons.create(caller, null, body, runCallerOf(request))
    return sendJson(reply, cronJson(row))
  })
  serve(app, createThreadCron, async (request, reply) => {
    const { body, params, caller } = request
    const row = await crons.create(caller, params.thread_id, body, runCallerOf(request))
    return sendJson(reply, cronJson(row))
  })
  serve(app, getCron,
    async ({ params, caller }, reply) =>
      sendJson(reply, cronJson(await crons.get(caller, params.cron_id))))
  serve(app, updateCron, async (request, reply) => {
    const { params, body, caller } = request
    return sendJson(reply,
      cronJson(await crons.patch(caller, params.cron_id, body, runCallerOf(request))))
  })
  serve(app, deleteCron, async ({ params, caller }) => crons.delete(caller, params.cron_id))
  serve(app, searchCrons, async ({ body, caller }, reply) => {
    const { rows, total, nowMs } = await crons.search(caller, body, leftSignal(reply))
    takeRows(shareFor(reply), rows)
    const json = (row: typeof rows[number]) => cronJson(row, body.select, nowMs)
    return sendPage(reply, { rows, json, total, offset: body.offset ?? 0 })
  })
  serve(app, previewCron, async ({ body, caller }, reply) => {
    const times = crons.preview(caller, body).map(timeText)
    return sendJson(reply, JSON.stringify({ times }))
  })
  serve(app, triggerCron, async (request, reply) => {
    const { params, caller } = request
    const { runId, threadId } = await crons.trigger(caller, params.cron_id,
      runCallerOf(request).commandId)
    return sendJson(reply, JSON.stringify({ run_id: runId, thread_id: threadId }))
  })
  serve(app, lastCronRuns, async ({ body, caller }, reply) => {
    const found = await crons.lastRuns(caller, body.cron_ids)
    return sendJson(reply, `[${found.map(lastRunJson).join(',')}]`)
  })
  serve(app, countCrons,
    async ({ body, caller }, reply) =>
      sendJson(reply, String(await crons.count(caller, body, leftSignal(reply)))))
}
