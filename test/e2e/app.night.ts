/** A project with an app of its own, served: routes, middleware, and calls of its own server. */

import { expect, it } from 'vitest'

import { oneWorker, startServer } from '../support/server-process.ts'

it('A project answers by its routes, wraps ours, and runs its graph by its client.', async () => {
  const server = await startServer({ project: 'routes', args: oneWorker })
  try {
    const hello = await fetch(`${server.url}/hello?name=ann`)
    expect(await hello.json()).toEqual({ hello: 'ann' })
    const found = await fetch(`${server.url}/assistants/search`, { method: 'POST', body: '{}',
      headers: { 'content-type': 'application/json' } })
    expect([found.status, found.headers.get('x-wrapped')]).toEqual([200, 'yes'])
    expect(await found.json()).toMatchObject([{ graph_id: 'agent' }])
    const run = await fetch(`${server.url}/run`, { method: 'POST' })
    expect(await run.json()).toMatchObject({ messages: [{ content: 'Here.' }] })
  } finally {
    await server.close()
  }
})
