/** Results of a graph with an untracked value: the same on every way to a result. */

import { randomUUID } from 'node:crypto'

import { expect, it } from 'vitest'

import { collect, dataOf, say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const structuredResponse = { city: 'Oslo' }

/** Calls a method of JSON-RPC. */
async function rpc(path: string, method: string, params: object): Promise<unknown> {
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { result: unknown }).result
}

it('a waiting client and one that joins get the last values that the engine streamed', async () => {
  const { runs, threads } = server.client
  const { thread_id: id } = await threads.create()
  const parts = await collect(
    runs.stream(id, 'structured', { input: say('Oslo'), streamMode: ['values', 'updates'] }),
  )
  const last = dataOf(parts, 'values').at(-1)
  expect(last).toMatchObject({ structuredResponse, notes: 'Oslo' })
  const [run] = await runs.list(id)
  expect(await runs.join(id, run!.run_id)).toEqual(last)
  const waited = await runs.wait(id, 'structured', { input: say('Bergen') })
  expect(waited).toMatchObject({ structuredResponse: { city: 'Bergen' }, notes: 'Bergen' })
  // The state of the thread is that of its checkpoint.
  expect((await threads.getState(id)).values).not.toHaveProperty('structuredResponse')
})

it('a stateless run returns them', async () => {
  expect(await server.client.runs.wait(null, 'structured', { input: say('Oslo') }))
    .toMatchObject({ structuredResponse, notes: 'Oslo' })
})

it('a run that waits for an answer returns them beside the interrupt', async () => {
  expect(await server.client.runs.wait(null, 'structured', { input: say('somewhere') }))
    .toMatchObject({ structuredResponse: { city: 'somewhere' }, __interrupt__: [{
      value: 'where?',
    }] })
})

it('a tool call of MCP has them in its structured content', async () => {
  const result = await rpc('/mcp', 'tools/call', { name: 'structured', arguments: say('Oslo') })
  expect(result).toMatchObject({ structuredContent: { structuredResponse } })
})

it('a task of A2A has the structured response as a data artifact', async () => {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Oslo' }] }
  const result = await rpc('/a2a/structured', 'SendMessage', { message }) as {
    task: { id: string; artifacts: object[] }
  }
  expect(result.task.artifacts).toMatchObject([{ parts: [{ text: 'It is Oslo.' }] }, { parts: [{
    data: structuredResponse,
  }] }])
  const seen = await rpc('/a2a/structured', 'GetTask', { id: result.task.id })
  expect(seen).toMatchObject({ artifacts: result.task.artifacts })
})
