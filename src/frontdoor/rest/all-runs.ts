/** The routes of the runs of all threads: a search, and the cancellation of many. */

import { cancelRuns, searchRuns } from '../../api/index.ts'
import { leftSignal, sendJson, sendRows, shareFor } from '../http/list-reply.ts'
import { foundRunJson } from '../http/render.ts'
import type { App, RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { serve } from '../http/serve.ts'

/** Adds the routes of the runs of all threads. */
export function allRunRoutes(app: App, { runs }: Pick<RouteParts, 'runs'>): void {
  serve(app, searchRuns, async ({ body, caller }, reply) => {
    const { rows, cursor } = await runs.search(caller, body, leftSignal(reply))
    takeRows(shareFor(reply), rows)
    if (cursor !== undefined) void reply.header('x-pagination-cursor', cursor)
    return sendRows(reply, rows, (row) => foundRunJson(row, body.select))
  })
  serve(app, cancelRuns, async ({ query, body, caller }, reply) => {
    const count = await runs.cancelMany(caller, body, query)
    if (count === undefined) return reply.code(204).send()
    return sendJson(reply, JSON.stringify({ count, dry_run: true }))
  })
}
