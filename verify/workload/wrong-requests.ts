/** Requests that are wrong. The server rejects them with 4xx, and they have no effect. */

import { createRunBody, createUpdateBody, send } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { Session } from './session.ts'

const unknownId = '00000000-0000-4000-8000-000000000000'

export const wrongRequest: Operation = {
  name: 'wrong',
  weight: 5,
  async execute(scene) {
    const { thread: { id }, session, client, client: { chance } } = scene
    const body = createRunBody(scene)
    const post = (path: string, wrong: unknown) => ({ method: 'POST' as const, path, body: wrong })
    const requests = [
      ['thread', post(`/threads/${unknownId}/runs`, body)],
      ['run', { method: 'GET' as const, path: `/threads/${id}/runs/${unknownId}` }],
      ['cancel', { method: 'POST' as const, path: `/threads/${id}/runs/${unknownId}/cancel` }],
      ['assistant', post(`/threads/${id}/runs`, { ...body, assistant_id: 'missing' })],
      ['strategy', post(`/threads/${id}/runs`, { ...body, multitask_strategy: 'never' })],
      ['json', post(`/threads/${id}/runs`, '{"assistant_id":')],
      ['channel', post(`/threads/${id}/state`, { values: { missing: session.createToken() } })],
      ['node', post(`/threads/${id}/state`, { ...createUpdateBody(scene), as_node: 'missing' })],
      ['checkpoint', post(`/threads/${id}/state`, {
        ...createUpdateBody(scene),
        checkpoint_id: unknownId,
      })],
      ...listCommands(scene).map(([kind, command]) =>
        [`v2.${kind}`, post(`/threads/${id}/commands`, command)] as const
      ),
      ['v2.filter', post(`/threads/${id}/stream/events`, { channels: [] })],
      ['a2a.assistant', post('/a2a/missing', toCall('ListTasks', {}))],
      ...listMessages(scene).map(([kind, call]) =>
        [`a2a.${kind}`, post('/a2a/verify', call)] as const
      ),
      ['replay.revision', post(toReplays(session), { revision: 'r999' })],
      ['replay.sample', post(toReplays(session), { revision: 'r1', sample: 0 })],
      ['replay.id', post(`${toReplays(session)}/${unknownId}/cancel`, {})],
      ...listToolCalls().map(([kind, call]) => [`mcp.${kind}`, post('/mcp', call)] as const),
    ] as const
    const offered = requests.filter(([kind]) => session.offers(`wrong.${kind}`))
    const [name, request] = chance.pick(offered)
    const operation = `wrong.${name}`
    // The control API is one for all deployments.
    if (request.path.startsWith('/control/')) {
      await session.call(client.number, { operation, ...request }, client.signal)
    } else await send(operation, scene, request)
  },
}

function toReplays({ deployment }: Session): string {
  return `/control/v1/deployments/${deployment?.name}/replays`
}

function toCall(method: string, params: object) {
  return { jsonrpc: '2.0', id: 1, method, params }
}

/** Wrong calls of A2A. */
function listMessages({ session, thread: { id: contextId } }: Scene) {
  const text = session.createToken()
  const message = { messageId: text, role: 'ROLE_USER', contextId, parts: [{ text }] }
  return [
    ['method', toCall('EndTask', {})],
    ['task', toCall('GetTask', { id: unknownId })],
    ['parts', toCall('SendMessage', { message: { ...message, parts: [] } })],
    ['context', toCall('SendMessage', { message: { ...message, contextId: 'no UUID' } })],
    ['answer', toCall('SendMessage', { message: { ...message, taskId: unknownId } })],
    ['cancel', toCall('CancelTask', { id: unknownId })],
  ] as const
}

/** Wrong calls of MCP. */
function listToolCalls() {
  return [
    ['method', toCall('tools/end', {})],
    ['tool', toCall('tools/call', { name: 'missing', arguments: {} })],
    ['arguments', toCall('tools/call', { name: 'verify', arguments: 'none' })],
    ['message', { method: 'tools/call' }],
  ] as const
}

/** Wrong commands of protocol v2. */
function listCommands(scene: Scene): readonly (readonly [string, unknown])[] {
  const { input } = createRunBody(scene)
  const command = (method: string, params: object) => ({ id: 1, method, params })
  return [
    ['command', command('run.end', {})],
    ['assistant', command('run.start', { assistant_id: 'missing', input })],
    ['strategy',
      command('run.start', { assistant_id: 'verify', input, multitask_strategy: 'never' })],
    ['answer',
      command('input.respond', { namespace: [], interrupt_id: '0'.repeat(32),
        response: scene.session.createToken() })],
    ['checkpoint', command('state.fork', { checkpoint_id: unknownId, input })],
    ['message',
      command('input.inject', { namespace: ['missing'],
        message: { role: 'user', content: scene.session.createToken() } })],
    ['run', command('agent.getTree', { run_id: unknownId })],
  ]
}
