/** A2A against a real server: tasks of real graphs are runs, and contexts are threads. */

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const gate = useGates()

interface TaskSeen {
  readonly id: string
  readonly contextId: string
}

interface Answered {
  readonly result: TaskSeen & { readonly task: TaskSeen; readonly tasks: readonly TaskSeen[] }
  readonly error: { readonly code: number; readonly message: string }
}

const said = (text: string, more: object = {}) => ({ messageId: randomUUID(), role: 'ROLE_USER',
  parts: [{ text }], ...more })

const post = (agent: string, method: string, params: object, headers = {}) =>
  fetch(`${server.url}/a2a/${agent}`, { method: 'POST', headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })

async function call(agent: string, method: string, params: object): Promise<Answered> {
  const answer = await post(agent, method, params)
  expect(answer.status).toBe(200)
  return await answer.json() as Answered
}

interface Chunk {
  readonly artifact: { readonly artifactId: string; readonly parts: readonly { text: string }[] }
  readonly append: boolean
}

/** A result of a stream. */
interface Seen {
  readonly task?: TaskSeen
  readonly artifactUpdate?: Chunk
  readonly statusUpdate?: object
}

/** The results in a stream, and the ids of its events. */
async function streamed(answer: Response) {
  const frames = (await answer.text()).split('\n\n').filter((frame) => frame.includes('data: '))
  return frames.map((frame) => ({ seen: /^id: (.*)$/m.exec(frame)![1]!,
    ...(JSON.parse(/^data: (.*)$/m.exec(frame)![1]!) as { result: Seen }).result })
  )
}

it('A message is answered with a task, which is a run of a thread', async () => {
  const { result: { task } } = await call('echo', 'SendMessage', { message: said('hi') })
  expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ parts: [{ text: 'echo: hi' }] }],
    history: [{ role: 'ROLE_USER', parts: [{ text: 'hi' }] }, { role: 'ROLE_AGENT' }] })
  const run = await server.client.runs.get(task.contextId, task.id)
  expect(run).toMatchObject({ run_id: task.id, status: 'success' })
  const { result: next } = await call('echo', 'message/send', {
    message: { kind: 'message', messageId: randomUUID(), role: 'user', contextId: task.contextId,
      parts: [{ kind: 'text', text: 'again' }] },
  })
  expect(next).toMatchObject({ kind: 'task', contextId: task.contextId,
    status: { state: 'completed' }, artifacts: [{ parts: [{ text: 'echo: again' }] }] })
  expect(next.id).not.toBe(task.id)
  const { result: seen } = await call('echo', 'GetTask', { id: task.id, historyScope: 'task' })
  expect(seen).toMatchObject({ id: task.id, artifacts: [{ parts: [{ text: 'echo: hi' }] }] })
  const { result: { tasks } } = await call('echo', 'ListTasks', { contextId: task.contextId })
  expect(tasks.map(({ id }) => id)).toEqual([next.id, task.id])
  expect((await call('held', 'GetTask', { id: task.id })).error.code).toBe(-32001)
})

it('A stream has what the model writes, and ends with the status of the task', async () => {
  const events = await streamed(await post('tokens', 'SendStreamingMessage', {
    message: said('hi'),
  }))
  expect(Object.keys(events[0]!)).toContain('task')
  const chunks = events.flatMap(({ artifactUpdate }) => artifactUpdate ?? [])
  expect(chunks.length).toBeGreaterThan(3)
  expect(chunks.map(({ artifact }) => artifact.parts[0]!.text).join('')).toBe('one two three')
  expect(chunks.map(({ append }) => append)).toEqual(chunks.map((_, at) => at > 0))
  expect(events.at(-1)).toMatchObject({ statusUpdate: {
    status: { state: 'TASK_STATE_COMPLETED' },
  } })
  const { result } = await call('tokens', 'GetTask', { id: events[0]!.task!.id })
  expect(result).toMatchObject({
    artifacts: [{ artifactId: chunks[0]!.artifact.artifactId, parts: [{ text: 'one two three' }] }],
  })
})

it('A task that works is followed by another client, and cancelled', async () => {
  const place = gate()
  const { result: { task } } = await call('held', 'SendMessage', {
    message: said(`hold ${place.url}`),
    configuration: { returnImmediately: true },
  })
  await place.arrived()
  const { result: { tasks } } = await call('held', 'ListTasks', { contextId: task.contextId,
    status: 'TASK_STATE_WORKING' })
  expect(tasks).toMatchObject([{ id: task.id }])
  const followed = await post('held', 'SubscribeToTask', { id: task.id })
  const { result } = await call('held', 'CancelTask', { id: task.id })
  expect(result).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_CANCELED' } })
  const events = await streamed(followed)
  expect(events.at(-1)).toMatchObject({
    statusUpdate: { taskId: task.id, status: { state: 'TASK_STATE_CANCELED' } },
  })
  // Whoever saw a part of it gets the rest.
  const rest = await streamed(await post('held', 'SubscribeToTask', { id: task.id }, {
    'last-event-id': events.at(-2)!.seen,
  }))
  expect(rest.map(({ seen: _, ...event }) => Object.keys(event)[0]))
    .toEqual(['task', ...rest.slice(1, -1).map(() => 'artifactUpdate'), 'statusUpdate'])
  expect((await call('held', 'CancelTask', { id: task.id })).error.code).toBe(-32002)
})

it('A graph without messages says that it takes none', async () => {
  const { error } = await call('steps', 'SendMessage', { message: said('hi') })
  expect(error).toMatchObject({ code: -32004, message: expect.stringContaining('has no messages') })
})

it('The card says what the graph says of itself', async () => {
  const answer = await fetch(`${server.url}/.well-known/agent-card.json?assistant_id=echo`)
  expect(await answer.json()).toMatchObject({ name: 'echo', description: 'Says back what it hears.',
    supportedInterfaces: [{ url: expect.stringContaining(`${server.url}/a2a/`) }, {}] })
})
