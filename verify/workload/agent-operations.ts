/** Operations by A2A: messages to an assistant make tasks, which are runs of a thread. */

import { createRunBody, send } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { KnownTask, Reply } from './session.ts'

const path = '/a2a/verify'
/** Number of tasks that are known of a thread. */
const recentTasks = 4
/** Probability that a message is sent again, and that its response comes at once. */
const [repeatShare, asyncShare] = [0.3, 0.3]
/** Actions of which a task of A2A has a result. */
const actions = ['plain', 'plain', 'slow', 'ask', 'fail', 'charge'] as const

/** Sends a request of JSON-RPC. */
function sendRpc(operation: string, scene: Scene, method: string, params: object): Promise<Reply> {
  return send(operation, scene, { method: 'POST', path,
    body: { jsonrpc: '2.0', id: 1, method, params } })
}

/** Parameters of a message with a new task in the context of the thread. */
function createMessage(scene: Scene) {
  const { session, client: { chance }, thread } = scene
  const { token, ms } = createRunBody(scene).input.task
  const offered = actions.filter((name) => session.offers(`task.${name}`))
  return {
    message: { messageId: token, role: 'ROLE_USER', contextId: thread.id,
      parts: [{ text: `${token}/${chance.pick(offered)}/${ms}` }] },
    context: { message: token },
  }
}

interface TaskResponse {
  readonly id: string
  readonly status: { readonly state: string }
}

/** Remembers the task in a response. */
function noteTask({ thread }: Scene, token: string, { response }: Reply): void {
  const { result } = (response ?? {}) as { result?: { task?: TaskResponse } }
  if (result?.task === undefined) return
  const { id, status: { state } } = result.task
  const others = thread.tasks.filter((task) => task.id !== id)
  thread.tasks.splice(0, Infinity, { id, state, token }, ...others.slice(0, recentTasks - 1))
}

const sendMessage: Operation = {
  name: 'a2a.send',
  weight: 5,
  async execute(scene) {
    const { session: { deletions }, client: { chance }, thread } = scene
    const params = { ...createMessage(scene),
      configuration: { returnImmediately: chance.flip(asyncShare) } }
    const { messageId: token } = params.message
    const reply = await deletions.create(thread.id,
      () => sendRpc('a2a.send', scene, 'SendMessage', params))
    if (reply === undefined) return
    noteTask(scene, token, reply)
    if (!chance.flip(repeatShare)) return
    await deletions.create(thread.id, () => sendRpc('a2a.repeat', scene, 'SendMessage', params))
  },
}

const streamMessage: Operation = {
  name: 'a2a.stream',
  weight: 2,
  async execute(scene) {
    const { deletions } = scene.session
    await deletions.create(scene.thread.id,
      () => sendRpc('a2a.stream', scene, 'SendStreamingMessage', createMessage(scene)))
  },
}

/** An operation on one of the newest tasks. Does nothing if there is none. */
function onTask(name: string, weight: number, { isFit = () => true, execute }: {
  readonly isFit?: (task: KnownTask) => boolean
  readonly execute: (scene: Scene, task: KnownTask) => Promise<unknown>
}): Operation {
  return {
    name,
    weight,
    async execute(scene) {
      const tasks = scene.thread.tasks.filter(isFit)
      if (tasks.length > 0) await execute(scene, scene.client.chance.pick(tasks))
    },
  }
}

/** Answers the question of a task. */
const answerTask = onTask('a2a.answer', 4, {
  isFit: ({ state }) => state === 'TASK_STATE_INPUT_REQUIRED',
  execute: async (scene, { id, token: question }) => {
    const token = scene.session.createToken()
    const message = { messageId: token, role: 'ROLE_USER', taskId: id, parts: [{ text: token }] }
    const reply = await sendRpc('a2a.answer', scene, 'SendMessage', { message,
      metadata: { question } })
    noteTask(scene, question, reply)
  },
})

export const agentOperations: readonly Operation[] = [sendMessage, streamMessage, answerTask,
  onTask('a2a.get', 3, {
    execute: (scene, { id }) => sendRpc('a2a.get', scene, 'GetTask', { id, historyScope: 'task' }),
  }), onTask('a2a.cancel', 1, {
    execute: (scene, { id }) => sendRpc('a2a.cancel', scene, 'CancelTask', { id }),
  }), {
  name: 'a2a.list',
  weight: 1,
  execute: async (scene: Scene) => {
    await sendRpc('a2a.list', scene, 'ListTasks', { contextId: scene.thread.id, pageSize: 100 })
  },
}]
