/** Requests of another tenant for what the clients use. It sees nothing, and changes nothing. */

import { createRunBody, createUpdateBody } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { Request } from './session.ts'

type Drawn = Pick<Request, 'operation' | 'method' | 'path' | 'body' | 'threadId'>

export const foreignRequest: Operation = {
  name: 'foreign.request',
  weight: 8,
  async execute(scene) {
    const { session, client } = scene
    const request = client.chance.pick([...listThreadRequests(scene), ...listOtherRequests(scene)])
    await session.call(client.number, { ...request, tenant: 'foreign' }, client.signal)
  },
}

function listThreadRequests(scene: Scene): readonly Drawn[] {
  const { thread: { id, base, runs: [run = id] }, session: { name } } = scene
  const [path, threadId] = [`${base}/threads/${id}`, id]
  const body = createRunBody(scene)
  const get = (suffix: string): Drawn => ({ operation: 'foreign.read', method: 'GET',
    path: `${path}${suffix}`, threadId })
  const change = (method: 'POST' | 'PATCH' | 'DELETE', suffix: string, sent?: unknown): Drawn => (
    { operation: 'foreign.change', method, path: `${path}${suffix}`, body: sent, threadId }
  )
  const filter = { metadata: { verify: name } }
  const call = { jsonrpc: '2.0', id: 1, params: { id: run } }
  return [
    ...['state.get', 'agent.getTree', 'state.listCheckpoints'].map((method) =>
      change('POST', '/commands', { id: 1, method, params: {} })
    ),
    ...['GetTask', 'CancelTask'].map((method): Drawn => ({ operation: 'foreign.change',
      method: 'POST', path: `${base}/a2a/verify`, body: { ...call, method }, threadId })
    ),
    get(''),
    get('/state'),
    get('/history'),
    get('/runs'),
    get(`/runs/${run}`),
    get(`/runs/${run}/join`),
    get(`/runs/${run}/stream`),
    change('POST', '/runs', body),
    change('POST', '/runs/wait', body),
    change('POST', `/runs/${run}/cancel?action=rollback`),
    change('POST', '/state', createUpdateBody(scene)),
    change('POST', '/copy'),
    change('PATCH', '', { metadata: { foreign: true } }),
    change('DELETE', `/runs/${run}`),
    change('DELETE', ''),
    { operation: 'foreign.search', method: 'POST', path: `${base}/threads/search`, body: filter },
    { operation: 'foreign.search', method: 'POST', path: `${base}/threads/search`,
      body: { ids: [id] } },
    { operation: 'foreign.count', method: 'POST', path: `${base}/threads/count`, body: filter },
    { operation: 'foreign.prune', method: 'POST', path: `${base}/threads/prune`,
      body: { thread_ids: [id] }, threadId },
  ]
}

function listOtherRequests({ session, client, thread: { runs, base } }: Scene): readonly Drawn[] {
  const { assistants, crons, spans, name } = session
  const read = (path: string): Drawn => ({ operation: 'foreign.read', method: 'GET', path })
  const change = (method: 'POST' | 'DELETE', path: string, body?: unknown): Drawn => (
    { operation: 'foreign.change', method, path, body }
  )
  const search = (path: string, body: unknown): Drawn => ({ operation: 'foreign.search',
    method: 'POST', path, body })
  const drawn: Drawn[] = [
    search('/store/items/search', { namespace_prefix: ['verify', name] }),
    search('/runs/crons/search', { metadata: { verify: name } }),
    search('/assistants/search', { metadata: { verify: name } }),
  ]
  const assistant = assistants.get(client.number)?.id
  if (assistant) {
    drawn.push(read(`/assistants/${assistant}`), change('DELETE', `/assistants/${assistant}`),
      change('POST', `/assistants/${assistant}/latest`, { version: 1 }))
  }
  const cron = crons.get(client.number)?.id
  if (cron) drawn.push(read(`/runs/crons/${cron}`), change('DELETE', `/runs/crons/${cron}`))
  const span = session.offers('span.get') ? spans.get(client.number) : undefined
  if (span) {
    drawn.push(read(`/api/v1/runs/${span.id}`), read(`/api/v1/sessions/${span.project}`),
      change('DELETE', `/api/v1/sessions/${span.project}`))
  }
  const [run] = runs
  if (run && session.offers('trace.get')) drawn.push(read(`${base}/api/v1/runs/${run}`))
  return drawn
}
