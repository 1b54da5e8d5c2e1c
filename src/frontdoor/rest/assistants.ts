/** The routes of assistants. */

import {
  AssistantPath, CountAssistants, CreateAssistant, DeleteAssistant, DescribeSubgraphs, DrawGraph,
  ListVersions, PatchAssistant, SearchAssistants, SetLatest, SubgraphPath,
} from '../schema/assistant.ts'
import { arrayText, assistantJson } from './render.ts'
import { route, sendJson, sendPage } from './route.ts'
import type { App, RouteParts } from './route.ts'

const tag = 'Assistants'
const one = { tag, params: AssistantPath, answer: 'Assistant' } as const

export function assistantRoutes(app: App, { assistants, tenant }: RouteParts): void {
  app.post('/assistants', route({ tag, summary: 'Create an assistant', body: CreateAssistant,
    answer: 'Assistant' }), async ({ body }, reply) =>
    sendJson(reply, assistantJson(await assistants.create(tenant, body))))

  app.get('/assistants/:assistant_id', route({ ...one, summary: 'Get an assistant' }),
    async ({ params }, reply) =>
      sendJson(reply, assistantJson(await assistants.get(tenant, params.assistant_id))))

  app.patch('/assistants/:assistant_id', route({ ...one, body: PatchAssistant,
    summary: 'Update an assistant: a new version, which becomes the active one' }),
  async ({ params, body }, reply) =>
    sendJson(reply, assistantJson(await assistants.patch(tenant, params.assistant_id, body))))

  app.delete('/assistants/:assistant_id', route({ tag, params: AssistantPath,
    querystring: DeleteAssistant, summary: 'Delete an assistant with all its versions' }),
  async ({ params, query }, reply) => {
    await assistants.delete(tenant, params.assistant_id, query.delete_threads ?? false)
    return reply.code(204).send()
  })

  app.post('/assistants/search', route({ tag, summary: 'Search assistants',
    body: SearchAssistants, answer: 'Assistant[]' }), async ({ body }, reply) => {
    const { rows, total } = await assistants.search(tenant, body)
    const texts = rows.map((row) => assistantJson(row, body.select))
    return sendPage(reply, { texts, total, offset: body.offset ?? 0 })
  })

  app.post('/assistants/count', route({ tag, summary: 'Count assistants', body: CountAssistants,
    answer: 'Count' }), async ({ body }, reply) =>
    sendJson(reply, String(await assistants.count(tenant, body))))

  versionRoutes(app, { assistants, tenant })
  graphRoutes(app, { assistants, tenant })
}

type Parts = Pick<RouteParts, 'assistants' | 'tenant'>

function versionRoutes(app: App, { assistants, tenant }: Parts): void {
  app.post('/assistants/:assistant_id/versions', route({ ...one, answer: 'Assistant[]',
    body: ListVersions, summary: 'List the versions of an assistant, newest first' }),
  async ({ params, body }, reply) => {
    const rows = await assistants.versions(tenant, params.assistant_id, body)
    return sendJson(reply, arrayText(rows.map((row) => assistantJson(row))))
  })

  app.post('/assistants/:assistant_id/latest', route({ ...one, body: SetLatest,
    summary: 'Make a version the active one' }), async ({ params, body }, reply) => {
    const row = await assistants.setLatest(tenant, params.assistant_id, body.version)
    return sendJson(reply, assistantJson(row))
  })
}

function graphRoutes(app: App, { assistants, tenant }: Parts): void {
  app.get('/assistants/:assistant_id/graph', route({ ...one, querystring: DrawGraph,
    answer: 'Graph', summary: 'Get the graph as nodes and edges' }),
  async ({ params, query }, reply) => {
    const drawn = await assistants.graph(tenant, params.assistant_id, query.xray ?? false)
    return sendJson(reply, JSON.stringify(drawn))
  })

  app.get('/assistants/:assistant_id/schemas', route({ ...one, answer: 'GraphSchemas',
    summary: 'Get the schemas of the graph' }), async ({ params }, reply) =>
    sendJson(reply, JSON.stringify(await assistants.schemas(tenant, params.assistant_id))))

  const subgraphs = { tag, querystring: DescribeSubgraphs, answer: 'SubgraphSchemas' } as const
  app.get('/assistants/:assistant_id/subgraphs', route({ ...subgraphs, params: AssistantPath,
    summary: 'Get the schemas of every subgraph' }), async ({ params, query }, reply) => {
    const found = await assistants.subgraphs(tenant, params.assistant_id, null,
      query.recurse ?? false)
    return sendJson(reply, JSON.stringify(found))
  })

  app.get('/assistants/:assistant_id/subgraphs/:namespace', route({ ...subgraphs,
    params: SubgraphPath, summary: 'Get the schemas of the subgraph at a namespace' }),
  async ({ params, query }, reply) => {
    const found = await assistants.subgraphs(tenant, params.assistant_id, params.namespace,
      query.recurse ?? false)
    return sendJson(reply, JSON.stringify(found))
  })
}
