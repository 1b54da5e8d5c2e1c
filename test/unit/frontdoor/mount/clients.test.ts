/** Unmodified clients of every protocol, at the address of a deployment. */

import { createClient } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { Client } from '@langchain/langgraph-sdk'
import { Agent, fetch as fetchThrough } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'

import { ThreadService } from '../../../../proto/gen/frontdoor/v1/thread_pb.js'
import { isNight } from '../../../support/repeats.ts'
import { activeIn, openKeyed, socketAt } from './deployment-door.ts'

const threadId = '0a0a0a0a-0000-4000-8000-000000000001'

/** A deployment with a host name, and a client at its path or at that name. */
async function opened(at: 'path' | 'host') {
  const all = await openKeyed({ domain: 'agents.example.org' })
  await activeIn(all.deployments)
  const key = await all.keyOf('acme')
  const { port } = new URL(all.door.url)
  const agent = new Agent({
    connect: {
      lookup: (_host, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
    },
  })
  onTestFinished(() => agent.destroy())
  // Finds the name at this machine, as its DNS would.
  const fetch =
    ((url: string, options: object) =>
      fetchThrough(url, { ...options, dispatcher: agent })) as unknown as typeof globalThis.fetch
  const url = at === 'path'
    ? `${all.door.url}/d/shop`
    : `http://shop.agents.example.org:${port}`
  const client = new Client({ apiUrl: url, apiKey: key,
    callerOptions: { maxRetries: 0, ...at === 'host' && { fetch } } })
  return { ...all, client, key, url }
}

describe.each(['path', 'host'] as const)('the official client at a %s', (at) => {
  it('works in the namespace of the deployment', async () => {
    const { door, client } = await opened(at)
    const made = await client.threads.create({ threadId })
    expect(made.thread_id).toBe(threadId)
    expect(door.threads.views.get(threadId)?.row.tenant).toBe('acme@shop')
    const run = await client.runs.create(threadId, 'agent', { input: {} })
    expect(door.threads.lastRun.row).toMatchObject({ tenant: 'acme@shop', runId: run.run_id })
    expect((await client.runs.get(threadId, run.run_id)).run_id).toBe(run.run_id)
    await client.threads.search()
    expect(door.threads.given('search')).toMatchObject({ tenant: 'acme@shop' })
  })

  // The client waits for two seconds before it comes back.
  it.runIf(isNight || at === 'path')('comes back to a stream that was cut off', async () => {
    const { door, client } = await opened(at)
    await client.threads.create({ threadId })
    let named: { run_id: string; thread_id?: string } | undefined
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const event of client.runs.stream(threadId, 'agent', { input: {},
        streamMode: 'values', onRunCreated: (run) => {
          named = run
        } })) {
        if (event.event !== 'values') continue
        seen.push(event.data)
        // The server goes, and another one has the rest.
        if (seen.length === 1) {
          const { listeners } = door.threads.lastRun
          for (const listener of [...listeners]) listener.ended('lost')
        }
        if (seen.length === 2) door.threads.lastRun.end('{}')
      }
    })()
    await waitFor(() => door.threads.runs.size === 1)
    const run = door.threads.lastRun
    await waitFor(() => run.listeners.size === 1)
    run.notify([{ name: 'values', json: '{"at":1}', id: '1' }])
    await waitFor(() => seen.length === 1)
    run.notify([{ name: 'values', json: '{"at":2}', id: '2' }])
    await reading
    expect(seen).toEqual([{ at: 1 }, { at: 2 }])
    expect(named).toEqual({ run_id: run.row.runId, thread_id: threadId })
  })
})

describe('other clients at a path', () => {
  it('speak the typed API', async () => {
    const { door, key, url } = await opened('path')
    const transport = createConnectTransport({ baseUrl: url, httpVersion: '1.1' })
    await createClient(ThreadService, transport).createThread({ threadId }, {
      headers: { 'x-api-key': key },
    })
    expect(door.threads.views.get(threadId)?.row.tenant).toBe('acme@shop')
  })

  it('open WebSockets, by which a paused deployment starts no run', async () => {
    const { door, deployments, key, url } = await opened('path')
    const { socket, next } = socketAt(`${url}/threads/${threadId}/stream/events`, key)
    const start = (id: number) =>
      socket.send(
        JSON.stringify({ id, method: 'run.start', params: { assistant_id: 'agent', input: {} } }),
      )
    expect(await next('open')).toEqual([])
    start(1)
    expect(String(await next('message'))).toContain('run_id')
    expect(door.threads.lastRun.row).toMatchObject({ tenant: 'acme@shop' })
    const shop = await deployments.records.get('shop')
    await deployments.records.change(shop, { paused: true })
    start(2)
    expect(String(await next('message'))).toContain('is paused')
    expect(door.threads.runs.size).toBe(1)
  })

  it('open no WebSocket of a deployment that does not exist', async () => {
    const { door, key } = await opened('path')
    const { next } = socketAt(`${door.url}/d/nothing/threads/${threadId}/stream/events`, key)
    expect((await next('close'))[0]).toBe(4_404)
  })
})

async function waitFor(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}
