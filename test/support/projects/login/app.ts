/** A route that webhooks of runs name: it refuses the first call, and shows who called it. */

import { Hono } from 'hono'

const calls: object[] = []

export const app = new Hono<{ Variables: { auth: { user: { identity: string } } } }>()
  .post('/run-ended', async (context) => {
    const { run_id: run, status } = await context.req.json<{ run_id: string; status: string }>()
    calls.push({ run, status, caller: context.var.auth.user.identity,
      delivery: context.req.header('x-heddle-delivery') })
    return context.body(null, calls.length === 1 ? 503 : 204)
  })
  .get('/run-ended', (context) => context.json(calls))
