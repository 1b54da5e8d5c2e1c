/** Unsupported fields are rejected with the reason, never silently ignored. */

import { expect, it } from 'vitest'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask, messageOf } from '../support/wire.ts'

const server = useServer()

it.each([
  ['POST', '/internal/truncate', { threads: true }],
] as const)('%s %s answers 404 or 422 with a sentence', async (method, path, body) => {
  const answer = await ask(server.url, method, path, body)
  expect(answer.status).toBeOneOf([404, 422])
  expect(messageOf(answer).split(' ').length).toBeGreaterThan(2)
})

it('Feedback keys of a cron are refused with 422, because nobody follows its runs', async () => {
  const answer = await ask(server.url, 'POST', '/runs/crons', { assistant_id: 'echo',
    schedule: '0 0 1 1 *', input: say('x'), feedback_keys: ['good'] })
  expect(answer.status).toBe(422)
  expect(messageOf(answer)).toMatch(/feedback_keys/)
})

it('A refused request to truncate deletes nothing', async () => {
  const { thread_id: id } = await server.client.threads.create()
  await ask(server.url, 'POST', '/internal/truncate', { threads: true, assistants: true })
  expect(await server.client.threads.get(id)).toMatchObject({ thread_id: id })
})
