/** Assistants of other users: who may not see one cannot run it, by whatever way. */

import { Auth } from '@langchain/langgraph-sdk/auth'
import { expect, it } from 'vitest'

import { done, openLoginDoor } from './login-door.ts'

const owned = () =>
  new Auth()
    .authenticate(({ headers }) => headers.get('authorization')!.replace('Bearer ', ''))
    .on('assistants', ({ value, user }) => {
      if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity }
      return { owner: user.identity }
    })

it('An assistant that a user does not see is not run by that user, nor by its crons.', async () => {
  const { door, as } = await openLoginDoor(owned())
  const made = await as('ann', 'POST', '/assistants', { graph_id: 'agent',
    config: { configurable: { prompt: 'of ann' } } })
  const body = { assistant_id: made.json['assistant_id'], input: {} }
  const thread = (await as('ben', 'POST', '/threads', {})).json['thread_id'] as string
  door.threads.calls.length = 0
  const command = { id: 1, method: 'run.start', params: body }
  for (const [path, asked, status] of [
    ['/runs', body, 404],
    ['/runs/wait', body, 404],
    ['/runs/stream', body, 404],
    [`/threads/${thread}/runs`, body, 404],
    [`/threads/${thread}/runs/stream`, body, 404],
    [`/threads/${thread}/commands`, command, 200],
    ['/runs/crons', { ...body, schedule: '0 0 1 1 *' }, 404],
  ] as const) {
    const answer = await as('ben', 'POST', path, asked)
    expect([path, answer.status]).toEqual([path, status])
    expect(answer.text).toContain('not found')
  }
  const batch = await as('ben', 'POST', '/runs/batch', [body])
  expect(batch.status).toBe(404)
  expect(done(door)).toEqual([])
  expect((await as('ann', 'POST', '/runs', body)).status).toBe(200)
})

it('The own assistant of a graph is run by everybody who may make runs.', async () => {
  const { as, door } = await openLoginDoor(owned())
  expect((await as('ben', 'POST', '/runs', { assistant_id: 'agent', input: {} })).status).toBe(200)
  const { assistantId } = door.threads.lastRun.row
  expect((await as('ben', 'GET', `/assistants/${assistantId}`)).status).toBe(404)
  expect((await as('ben', 'POST', '/runs', { assistant_id: assistantId, input: {} })).status)
    .toBe(200)
})

it('The own assistant of a graph is an agent for everybody who may make runs.', async () => {
  const { as } = await openLoginDoor(owned())
  const { assistant_id: ofAnn } = (await as('ann', 'POST', '/assistants', { graph_id: 'agent' }))
    .json
  const message = { role: 'ROLE_USER', messageId: 'm', parts: [{ text: 'hi' }] }
  const send = (agent: string) =>
    as('ben', 'POST', `/a2a/${agent}`, { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: {
      message,
      configuration: { returnImmediately: true },
    } })
  expect((await send('agent')).json).toHaveProperty('result')
  expect((await send(ofAnn as string)).text).toContain('not found')
  const card = (agent: string) => as('ben', 'GET', `/a2a/${agent}/.well-known/agent-card.json`)
  expect((await card('agent')).status).toBe(200)
  expect((await card(ofAnn as string)).status).toBe(404)
})
