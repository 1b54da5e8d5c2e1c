/** The OpenAPI description: it has every route, with the schemas that check requests. */

import { describe, expect, it } from 'vitest'

import { accessOfCalls } from '../../../../src/frontdoor/connect/access.ts'
import { call, openDoor } from '../open-front-door.ts'

/** Generated clients call the operations by these names, as the typed API does: none may change. */
const operationIds: Readonly<Record<string, string>> = {
  'POST /assistants': 'createAssistant',
  'GET /assistants/{assistant_id}': 'getAssistant',
  'PATCH /assistants/{assistant_id}': 'updateAssistant',
  'DELETE /assistants/{assistant_id}': 'deleteAssistant',
  'POST /assistants/search': 'searchAssistants',
  'POST /assistants/count': 'countAssistants',
  'POST /assistants/{assistant_id}/versions': 'listAssistantVersions',
  'POST /assistants/{assistant_id}/latest': 'setLatestAssistantVersion',
  'GET /assistants/{assistant_id}/graph': 'getAssistantGraph',
  'GET /assistants/{assistant_id}/schemas': 'getAssistantSchemas',
  'GET /assistants/{assistant_id}/subgraphs': 'getAssistantSubgraphs',
  'GET /assistants/{assistant_id}/subgraphs/{namespace}': 'getAssistantSubgraph',
  'POST /threads': 'createThread',
  'GET /threads/{thread_id}': 'getThread',
  'PATCH /threads/{thread_id}': 'updateThread',
  'DELETE /threads/{thread_id}': 'deleteThread',
  'POST /threads/{thread_id}/copy': 'copyThread',
  'GET /threads/{thread_id}/storage': 'getThreadStorage',
  'GET /threads/{thread_id}/usage': 'getThreadUsage',
  'GET /threads/{thread_id}/place': 'getThreadPlace',
  'GET /threads/{thread_id}/runs/{run_id}/logs': 'getRunLogs',
  'GET /threads/{thread_id}/runs/{run_id}/effects': 'getRunEffects',
  'GET /threads/{thread_id}/runs/{run_id}/calls': 'listRunCalls',
  'GET /threads/{thread_id}/runs/{run_id}/calls/{no}': 'getRunCall',
  'PATCH /threads/{thread_id}/state': 'patchThreadState',
  'POST /threads/prune': 'pruneThreads',
  'POST /threads/search': 'searchThreads',
  'POST /threads/count': 'countThreads',
  'GET /threads/{thread_id}/stream': 'joinThreadStream',
  'GET /threads/{thread_id}/state': 'getThreadState',
  'POST /threads/{thread_id}/state': 'updateThreadState',
  'GET /threads/{thread_id}/state/{checkpoint_id}': 'getThreadStateAtCheckpoint',
  'POST /threads/{thread_id}/state/checkpoint': 'postThreadStateAtCheckpoint',
  'GET /threads/{thread_id}/history': 'getThreadHistory',
  'POST /threads/{thread_id}/history': 'postThreadHistory',
  'POST /threads/{thread_id}/commands': 'sendCommand',
  'POST /threads/{thread_id}/stream/events': 'streamThreadEvents',
  'GET /threads/{thread_id}/stream/events': 'openThreadSocket',
  'GET /threads/{thread_id}/runs': 'listRuns',
  'POST /threads/{thread_id}/runs': 'createRun',
  'POST /threads/{thread_id}/runs/stream': 'streamRun',
  'POST /threads/{thread_id}/runs/wait': 'waitRun',
  'GET /threads/{thread_id}/runs/{run_id}': 'getRun',
  'DELETE /threads/{thread_id}/runs/{run_id}': 'deleteRun',
  'GET /threads/{thread_id}/runs/{run_id}/join': 'joinRun',
  'GET /threads/{thread_id}/runs/{run_id}/stream': 'joinRunStream',
  'POST /threads/{thread_id}/runs/{run_id}/cancel': 'cancelRun',
  'POST /runs': 'createStatelessRun',
  'POST /runs/batch': 'createRuns',
  'POST /runs/cancel': 'cancelRuns',
  'POST /runs/search': 'searchRuns',
  'POST /runs/stream': 'streamStatelessRun',
  'POST /runs/wait': 'waitStatelessRun',
  'GET /runs/{run_id}/stream': 'joinStatelessRunStream',
  'POST /runs/crons': 'createCron',
  'POST /threads/{thread_id}/runs/crons': 'createThreadCron',
  'GET /runs/crons/{cron_id}': 'getCron',
  'PATCH /runs/crons/{cron_id}': 'updateCron',
  'DELETE /runs/crons/{cron_id}': 'deleteCron',
  'POST /runs/crons/search': 'searchCrons',
  'POST /runs/crons/count': 'countCrons',
  'POST /runs/crons/preview': 'previewCron',
  'POST /runs/crons/{cron_id}/trigger': 'triggerCron',
  'POST /runs/crons/last-runs': 'lastCronRuns',
  'PUT /store/items': 'putItem',
  'GET /store/items': 'getItem',
  'DELETE /store/items': 'deleteItem',
  'POST /store/items/search': 'searchItems',
  'POST /store/namespaces': 'listNamespaces',
  'POST /a2a/{assistant_id}': 'callAgent',
  'GET /a2a/{assistant_id}/.well-known/agent-card.json': 'getAgentCard',
  'GET /.well-known/agent-card.json': 'findAgentCard',
  'POST /ui/{graph_id}': 'loadComponent',
  'GET /ui/{graph_id}/{file}': 'readComponentFile',
  'POST /mcp': 'callTools',
  'GET /mcp': 'streamTools',
  'DELETE /mcp': 'endToolSession',
  'GET /.well-known/oauth-protected-resource/mcp': 'getToolResource',
  'GET /.well-known/oauth-protected-resource/a2a/{assistant_id}': 'getAgentResource',
  'GET /ok': 'checkServer',
  'GET /info': 'getServerInfo',
  'GET /auth': 'getCaller',
  'GET /limits': 'getLimits',
  'GET /limits/refused': 'listRefusedCallers',
  'GET /keys': 'listKeys',
  'POST /keys': 'createKey',
  'DELETE /keys/{key_id}': 'revokeKey',
  'GET /cluster': 'getCluster',
  'GET /cluster/stream': 'streamCluster',
}

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>
  readonly security?: readonly object[]
  readonly requestBody?: { required: boolean;
    content: Record<string, { schema: { properties: object } }> }
}

async function describedBy() {
  const { json } = await call(await openDoor(), 'GET', '/openapi.json')
  const paths = json.paths as Record<string, Record<string, Operation>>
  const operations = new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        [`${method.toUpperCase()} ${path}`, operation] as const
      )
    ),
  )
  return { json, operations }
}

describe('the description', () => {
  it('has every route by its own name, and no other', async () => {
    const { operations } = await describedBy()
    const named = [...operations].map(([route, { operationId }]) => [route, operationId])
    expect(Object.fromEntries(named)).toEqual(operationIds)
    expect(new Set(Object.values(operationIds)).size).toBe(named.length)
  })

  it('uses the same names as the typed API', () => {
    const calls = [...accessOfCalls.keys()].map((path) => path.slice(path.lastIndexOf('/') + 1))
    // A protocol of its own, which the typed API has in part.
    const others: Readonly<Record<string, string>> = { FollowThread: 'streamThreadEvents' }
    expect(Object.values(operationIds)).toEqual(expect.arrayContaining(
      calls.map((call) => others[call] ?? `${call[0]!.toLowerCase()}${call.slice(1)}`),
    ))
  })

  it('has a summary, answers and errors for each route', async () => {
    const { operations } = await describedBy()
    for (const { summary, responses } of operations.values()) {
      expect(summary).toMatch(/^[A-Z].{5,}/)
      expect(Object.keys(responses).join()).toMatch(/^(101,|(20[0124],|304,)+)default$/)
    }
  })

  it('has no dangling reference', async () => {
    const { json } = await describedBy()
    const { schemas } = json.components as { schemas: object }
    const references = [...JSON.stringify(json).matchAll(/"\$ref":"([^"]+)"/g)].map(([, at]) => at!)
    expect(references.length).toBeGreaterThan(30)
    for (const reference of new Set(references)) {
      expect(Object.keys(schemas)).toContain(reference.replace('#/components/schemas/', ''))
    }
  })

  it('has the fields of bodies, and whether a body is required', async () => {
    const { operations } = await describedBy()
    const { requestBody } = operations.get('POST /threads/{thread_id}/runs')!
    expect(Object.keys(requestBody!.content['application/json']!.schema.properties))
      .toEqual(expect.arrayContaining(['assistant_id', 'input', 'multitask_strategy']))
    expect(requestBody!.required).toBe(true)
    expect(operations.get('POST /threads')!.requestBody!.required).toBe(false)
    const stream = operations.get('POST /runs/stream')!
    expect(Object.keys(stream.responses[200]!.content!)).toEqual(['text/event-stream'])
  })

  it('requires a key for all routes but the public ones', async () => {
    const { operations } = await describedBy()
    const open = [...operations].filter(([, { security }]) => security?.length === 0)
    expect(open.map(([route]) => route)).toEqual(['GET /ok', 'GET /info',
      'GET /ui/{graph_id}/{file}', 'GET /.well-known/oauth-protected-resource/mcp',
      'GET /.well-known/oauth-protected-resource/a2a/{assistant_id}'])
  })

  it('is served as a page for people, too', async () => {
    const page = await call(await openDoor(), 'GET', '/docs/')
    expect(page.status).toBe(200)
    expect(page.text).toContain('<title>Heddle</title>')
  })
})
