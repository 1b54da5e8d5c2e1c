/** Features that are not offered yet are refused with a sentence, never silently ignored. */

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask, messageOf } from '../support/wire.ts'

const server = useServer()
const some = randomUUID()

it.each([
  ['POST', '/runs/crons', { schedule: '* * * * *', assistant_id: 'echo' }],
  ['POST', `/threads/${some}/runs/crons`, { schedule: '* * * * *', assistant_id: 'echo' }],
  ['POST', '/runs/crons/search', {}],
  ['POST', '/runs/crons/count', {}],
  ['DELETE', `/runs/crons/${some}`, undefined],
  ['PUT', '/store/items', { namespace: ['a'], key: 'k', value: {} }],
  ['GET', '/store/items?key=k&namespace=a', undefined],
  ['POST', '/store/items/search', { namespace_prefix: [] }],
  ['POST', '/store/namespaces', {}],
  ['POST', `/threads/${some}/commands`, { id: 1, method: 'run.start', params: {} }],
  ['POST', `/threads/${some}/stream/events`, { channels: ['values'] }],
  ['GET', `/threads/${some}/stream`, undefined],
  ['POST', '/mcp/', {}],
  ['POST', '/a2a/echo', {}],
  ['POST', '/internal/truncate', { threads: true }],
] as const)('%s %s answers 404 or 422 with a sentence', async (method, path, body) => {
  const answer = await ask(server.url, method, path, body)
  expect(answer.status).toBeOneOf([404, 422])
  expect(messageOf(answer).split(' ').length).toBeGreaterThan(2)
})

it('A client of protocol v2 learns which library does not need it', async () => {
  const answer = await ask(server.url, 'POST', `/threads/${some}/commands`, { id: 1,
    method: 'run.start', params: { assistant_id: 'echo' } })
  expect(messageOf(answer)).toContain('@langchain/langgraph-sdk/react')
})

it('Feedback keys are refused with 422, because feedback is not collected', async () => {
  const answer = await ask(server.url, 'POST', '/runs/wait', { assistant_id: 'echo',
    input: say('x'), feedback_keys: ['good'] })
  expect(answer.status).toBe(422)
  expect(messageOf(answer)).toMatch(/feedback_keys/)
})

it('A refused request to truncate deletes nothing', async () => {
  const { thread_id: id } = await server.client.threads.create()
  await ask(server.url, 'POST', '/internal/truncate', { threads: true, assistants: true })
  expect(await server.client.threads.get(id)).toMatchObject({ thread_id: id })
})
