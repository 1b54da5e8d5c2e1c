/** Operations on the assistant of a client. All clients run it; no other client changes it. */

import { createRunBody } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { KnownAssistant, Reply, Request } from './session.ts'

/** Sends a request about the assistant of the client. */
function sendAssistant(operation: string, { session, client }: Scene, { id }: KnownAssistant,
  { path, ...request }: Omit<Request, 'operation'>): Promise<Reply> {
  return session.call(client.number, { operation, assistantId: id, path: `/assistants/${id}${path}`,
    ...request }, client.signal)
}

/** A version of an assistant: runs write its token to the log. */
function createVersion({ session }: Scene) {
  return { config: { configurable: { version: session.createToken() } } }
}

function versionOf({ status, response }: Reply): number[] {
  return status === 200 ? [(response as { version: number }).version] : []
}

const createAssistant: Operation = {
  name: 'assistant.create',
  weight: 2,
  async execute(scene) {
    const { session, client } = scene
    if (session.assistants.has(client.number)) return
    const reply = await session.call(client.number, {
      operation: 'assistant.create',
      method: 'POST',
      path: '/assistants',
      body: { graph_id: 'verify', metadata: { verify: session.name }, ...createVersion(scene) },
    }, client.signal)
    if (reply.status !== 200) return
    const { assistant_id: id } = reply.response as { assistant_id: string }
    session.assistants.set(client.number, { id, versions: versionOf(reply) })
  },
}

/** An operation on the assistant of the client. Does nothing if there is none. */
function onAssistant(name: string, weight: number,
  execute: (scene: Scene, assistant: KnownAssistant) => Promise<unknown>): Operation {
  return {
    name,
    weight,
    async execute(scene) {
      const assistant = scene.session.assistants.get(scene.client.number)
      if (assistant !== undefined) await execute(scene, assistant)
    },
  }
}

/** Deletes the assistant. Clients that have not noticed yet continue to run it. */
const deleteAssistant = onAssistant('assistant.delete', 0.5, async (scene, assistant) => {
  scene.session.assistants.delete(scene.client.number)
  await sendAssistant('assistant.delete', scene, assistant, { method: 'DELETE', path: '' })
  await sendAssistant('assistant.get', scene, assistant, { method: 'GET', path: '' })
  const { input } = createRunBody(scene)
  await scene.session.call(scene.client.number, { operation: 'assistant.run',
    assistantId: assistant.id, method: 'POST', path: '/runs/wait',
    body: { assistant_id: assistant.id, input } }, scene.client.signal)
})

export const assistantOperations: readonly Operation[] = [
  createAssistant,
  deleteAssistant,
  onAssistant('assistant.get', 3,
    (scene, assistant) =>
      sendAssistant('assistant.get', scene, assistant, { method: 'GET', path: '' })),
  onAssistant('assistant.update', 3, async (scene, assistant) => {
    const reply = await sendAssistant('assistant.update', scene, assistant, { method: 'PATCH',
      path: '', body: createVersion(scene) })
    assistant.versions.push(...versionOf(reply))
  }),
  onAssistant('assistant.latest', 2, async (scene, assistant) => {
    const version = scene.client.chance.pick(assistant.versions)
    await sendAssistant('assistant.latest', scene, assistant, { method: 'POST', path: '/latest',
      body: { version } })
  }),
  onAssistant('assistant.versions', 2,
    (scene, assistant) =>
      sendAssistant('assistant.versions', scene, assistant, { method: 'POST', path: '/versions',
        body: { limit: 100 } })),
]
