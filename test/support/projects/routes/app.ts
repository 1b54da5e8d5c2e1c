/** Routes and middleware of a project, in Hono. */

import { Client } from '@langchain/langgraph-sdk'
import { Hono } from 'hono'

export const app = new Hono()

app.use('/assistants/*', async (c, next) => {
  await next()
  c.header('x-wrapped', 'yes')
})

app.get('/hello', (c) => c.json({ hello: c.req.query('name') ?? 'world' }))

/** Runs the graph by a client that was given no address. */
app.post('/run', async (c) => {
  const client = new Client()
  const run = await client.runs.wait(null, 'agent', { input: { messages: [] } })
  return c.json(run)
})
