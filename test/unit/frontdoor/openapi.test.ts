/** The description of the API: every route is in it, and it is the schemas that check. */

import { describe, expect, it } from 'vitest'

import { call, openDoor } from './open-door.ts'

const routes = `
POST /assistants
GET PATCH DELETE /assistants/{assistant_id}
POST /assistants/search
POST /assistants/count
POST /assistants/{assistant_id}/versions
POST /assistants/{assistant_id}/latest
GET /assistants/{assistant_id}/graph
GET /assistants/{assistant_id}/schemas
GET /assistants/{assistant_id}/subgraphs
GET /assistants/{assistant_id}/subgraphs/{namespace}
POST /threads
GET PATCH DELETE /threads/{thread_id}
POST /threads/{thread_id}/copy
POST /threads/search
POST /threads/count
GET POST /threads/{thread_id}/state
GET /threads/{thread_id}/state/{checkpoint_id}
POST /threads/{thread_id}/state/checkpoint
GET POST /threads/{thread_id}/history
GET POST /threads/{thread_id}/runs
POST /threads/{thread_id}/runs/stream
POST /threads/{thread_id}/runs/wait
GET DELETE /threads/{thread_id}/runs/{run_id}
GET /threads/{thread_id}/runs/{run_id}/join
GET /threads/{thread_id}/runs/{run_id}/stream
POST /threads/{thread_id}/runs/{run_id}/cancel
POST /runs
POST /runs/stream
POST /runs/wait
GET /runs/{run_id}/stream
GET /ok
GET /info
`.trim().split('\n').flatMap((line) => {
  const words = line.split(' ')
  return words.slice(0, -1).map((method) => `${method} ${words.at(-1)!}`)
})

interface Operation {
  readonly summary?: string
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>
  readonly requestBody?: { content: Record<string, { schema: { properties: object } }> }
}

async function describedBy() {
  const { json } = await call(await openDoor(), 'GET', '/openapi.json')
  const paths = json.paths as Record<string, Record<string, Operation>>
  const operations = new Map(Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      [`${method.toUpperCase()} ${path}`, operation] as const)))
  return { json, operations }
}

describe('the description', () => {
  it('has every route, and no other', async () => {
    const { operations } = await describedBy()
    expect([...operations.keys()].sort()).toEqual(routes.toSorted())
  })

  it('says of each what it is, what it answers and how it fails', async () => {
    const { operations } = await describedBy()
    for (const { summary, responses } of operations.values()) {
      expect(summary).toMatch(/^[A-Z].{5,}/)
      expect(Object.keys(responses)).toEqual([expect.stringMatching(/^20[04]$/), '4XX'])
    }
  })

  it('refers to nothing that is not there', async () => {
    const { json } = await describedBy()
    const { schemas } = json.components as { schemas: object }
    const references = [...JSON.stringify(json).matchAll(/"\$ref":"([^"]+)"/g)].map(([, at]) => at!)
    expect(references.length).toBeGreaterThan(30)
    for (const reference of new Set(references)) {
      expect(Object.keys(schemas)).toContain(reference.replace('#/components/schemas/', ''))
    }
  })

  it('has the fields that are checked', async () => {
    const { operations } = await describedBy()
    const { requestBody } = operations.get('POST /threads/{thread_id}/runs')!
    expect(Object.keys(requestBody!.content['application/json']!.schema.properties))
      .toEqual(expect.arrayContaining(['assistant_id', 'input', 'multitask_strategy']))
    const stream = operations.get('POST /runs/stream')!
    expect(Object.keys(stream.responses[200]!.content!)).toEqual(['text/event-stream'])
  })

  it('can be read by people', async () => {
    const page = await call(await openDoor(), 'GET', '/docs/')
    expect(page.status).toBe(200)
    expect(page.text).toContain('Swagger UI')
  })
})
