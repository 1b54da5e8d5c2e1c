/** Push notifications of A2A against a real server: configured in both versions, and received. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { openReceiver } from '../support/receiver.ts'
import type { Received, Receiver } from '../support/receiver.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const gate = useGates()

let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
})
afterAll(() => receiver.close())

interface TaskSeen {
  readonly id: string
  readonly contextId: string
}

interface Answered {
  readonly result: TaskSeen & { readonly task: TaskSeen }
  readonly error: { readonly code: number }
}

async function call(agent: string, method: string, params: object): Promise<Answered> {
  const answer = await fetch(`${server.url}/a2a/${agent}`, { method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
  expect(answer.status).toBe(200)
  return await answer.json() as Answered
}

const said = (text: string, more: object = {}) => ({ messageId: randomUUID(), role: 'ROLE_USER',
  parts: [{ text }], ...more })

const hook = (path: string) => `http://127.0.0.1:${receiver.port}${path}`

/** What came at a path, which only one test uses, once there is as much. */
async function arrivedAt(path: string, count: number): Promise<readonly Received[]> {
  const seen = () => receiver.received.filter((one) => one.path === path)
  for (let all = receiver.received.length; seen().length < count; all++) await receiver.arrived(all)
  return seen()
}

const bodies = (all: readonly Received[]) => all.map(({ body }) => JSON.parse(body) as object)

it('A config that comes with a message gets the end of its task', async () => {
  const { result: { task } } = await call('echo', 'SendMessage', { message: said('hi'),
    configuration: {
      taskPushNotificationConfig: { url: hook('/sent'), token: 'tok',
        authentication: { scheme: 'Bearer', credentials: 'sec' } },
    } })
  const [one] = await arrivedAt('/sent', 1)
  expect(one!.headers).toMatchObject({ 'content-type': 'application/a2a+json',
    'x-a2a-notification-token': 'tok', authorization: 'Bearer sec' })
  expect(bodies([one!])).toMatchObject([{
    task: { id: task.id, contextId: task.contextId, status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'echo: hi' }] }] },
  }])
})

it('A config of 0.3 is set, listed, shown without its secrets, and deleted', async () => {
  const place = gate()
  const { result: { id } } = await call('held', 'message/send', {
    message: { kind: 'message', messageId: randomUUID(), role: 'user',
      parts: [{ kind: 'text', text: `hold ${place.url}` }] },
    configuration: { blocking: false },
  })
  await place.arrived()
  const set = (pushNotificationConfig: object) =>
    call('held', 'tasks/pushNotificationConfig/set', { taskId: id, pushNotificationConfig })
  const shown = { taskId: id, pushNotificationConfig: { id: 'a', url: hook('/old') } }
  expect((await set({ id: 'a', url: hook('/old'), token: 'tok' })).result).toEqual(shown)
  await set({ id: 'b', url: hook('/never') })
  const named = { id, pushNotificationConfigId: 'a' }
  expect((await call('held', 'tasks/pushNotificationConfig/get', named)).result).toEqual(shown)
  const del = await call('held', 'tasks/pushNotificationConfig/delete', { id,
    pushNotificationConfigId: 'b' })
  expect(del).toMatchObject({ result: null })
  const { result } = await call('held', 'tasks/pushNotificationConfig/list', { id })
  expect(result).toEqual([shown])
  place.open()
  const [one] = await arrivedAt('/old', 1)
  expect(one!.headers).toMatchObject({ 'content-type': 'application/json',
    'x-a2a-notification-token': 'tok' })
  expect(bodies([one!])).toMatchObject([{ kind: 'task', id, status: { state: 'completed' } }])
  expect(receiver.received.filter(({ path }) => path === '/never')).toEqual([])
})

it('A task that waits for an answer tells that it was cancelled', async () => {
  const { result: { task } } = await call('chatask', 'SendMessage', { message: said('a') })
  expect(task).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } })
  const config = { taskId: task.id, id: 'mine', url: hook('/asks') }
  const { result } = await call('chatask', 'CreateTaskPushNotificationConfig', config)
  expect(result).toEqual(config)
  expect((await call('chatask', 'ListTaskPushNotificationConfigs', { taskId: task.id })).result)
    .toEqual({ configs: [config], nextPageToken: '' })
  await call('chatask', 'CancelTask', { id: task.id })
  expect(bodies(await arrivedAt('/asks', 1)))
    .toMatchObject([{ task: { id: task.id, status: { state: 'TASK_STATE_CANCELED' } } }])
  expect((await call('chatask', 'CreateTaskPushNotificationConfig', config)).error.code)
    .toBe(-32004)
})

it('A task tells its question, and the end of the answer', async () => {
  const { result: { task } } = await call('chatask', 'SendMessage', { message: said('a'),
    configuration: { taskPushNotificationConfig: { url: hook('/question') } } })
  await arrivedAt('/question', 1)
  const answered = await call('chatask', 'SendMessage', { message: said('yes', {
    taskId: task.id,
  }) })
  expect(answered.result.task).toMatchObject({ id: task.id,
    status: { state: 'TASK_STATE_COMPLETED' } })
  expect(bodies(await arrivedAt('/question', 2))).toMatchObject([
    {
      task: { id: task.id,
        status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'sure?' }] } } },
    },
    {
      task: { id: task.id, status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ parts: [{ text: 'told yes' }] }] },
    },
  ])
})

it('A config that may not be called, or of a task that is not there, is refused', async () => {
  const { result: { task } } = await call('chatask', 'SendMessage', { message: said('a') })
  const code = async (params: object) =>
    (await call('chatask', 'CreateTaskPushNotificationConfig', params)).error.code
  expect(await code({ taskId: task.id, url: 'http://10.0.0.1/' })).toBe(-32602)
  expect(await code({ taskId: task.id, url: 'file:///etc/passwd' })).toBe(-32602)
  expect(await code({ taskId: randomUUID(), url: hook('/x') })).toBe(-32001)
  const { error } = await call('chatask', 'GetTaskPushNotificationConfig', { taskId: task.id,
    id: 'none' })
  expect(error.code).toBe(-32001)
})
