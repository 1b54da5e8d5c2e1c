/** The routes of assistants. */

import type { GraphSchemas } from '../../graph/index.ts'
import { leftSignal, sendJson, sendRows, shareFor } from '../http/list-reply.ts'
import { assistantJson } from '../http/render.ts'
import { route, sendPage } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { AssistantPath, CountAssistants, CreateAssistant, DeleteAssistant, DescribeSubgraphs,
  DrawGraph, ListVersions, PatchAssistant, SearchAssistants, SetLatest,
  SubgraphPath } from '../schema/assistant.ts'

const tag = 'Assistants'
const one = { tag, params: AssistantPath, answer: 'Assistant' } as const

/** Adds the routes of assistants, their versions and their graphs. */
export function assistantRoutes(app: App, { assistants }: RouteParts): void {
  app.post('/assistants',
    route('change', 'createAssistant', { tag, summary: 'Create an assistant', body: CreateAssistant,
      answer: 'Assistant' }),
    async ({ body, caller }, reply) =>
      sendJson(reply, assistantJson(await assistants.create(caller.tenant, body))))

  app.get('/assistants/:assistant_id',
    route('read', 'getAssistant', { ...one, summary: 'Get an assistant' }),
    async ({ params, caller }, reply) =>
      sendJson(reply, assistantJson(await assistants.get(caller.tenant, params.assistant_id))))

  app.patch('/assistants/:assistant_id',
    route('change', 'updateAssistant', { ...one, body: PatchAssistant,
      summary: 'Update an assistant: a new version, which becomes the active one' }),
    async ({ params, body, caller }, reply) => {
      const row = await assistants.patch(caller.tenant, params.assistant_id, body)
      return sendJson(reply, assistantJson(row))
    })

  app.delete('/assistants/:assistant_id',
    route('change', 'deleteAssistant', { tag, params: AssistantPath, querystring: DeleteAssistant,
      summary: 'Delete an assistant with all its versions' }),
    async ({ params, query, caller }, reply) => {
      await assistants.delete(caller.tenant, params.assistant_id, query.delete_threads ?? false)
      return reply.code(204).send()
    })

  app.post('/assistants/search',
    route('read', 'searchAssistants', { tag, summary: 'Search assistants', body: SearchAssistants,
      answer: 'FoundAssistant[]', returns: ['x-pagination-total', 'x-pagination-next'] }),
    async ({ body, caller }, reply) => {
      const { rows, total } = await assistants.search(caller.tenant, body, leftSignal(reply))
      takeRows(shareFor(reply), rows)
      const json = (row: typeof rows[number]) => assistantJson(row, body.select)
      return sendPage(reply, { rows, json, total, offset: body.offset ?? 0 })
    })

  app.post('/assistants/count',
    route('read', 'countAssistants', { tag, summary: 'Count assistants', body: CountAssistants,
      answer: 'Count' }), async ({ body, caller }, reply) => {
    return sendJson(reply, String(await assistants.count(caller.tenant, body, leftSignal(reply))))
  })

  versionRoutes(app, { assistants })
  graphRoutes(app, { assistants })
}

type Parts = Pick<RouteParts, 'assistants'>

function versionRoutes(app: App, { assistants }: Parts): void {
  app.post('/assistants/:assistant_id/versions',
    route('read', 'listAssistantVersions', { ...one, answer: 'Assistant[]', body: ListVersions,
      summary: 'List the versions of an assistant, newest first' }),
    async ({ params, body, caller }, reply) => {
      const rows = await assistants.versions(caller.tenant, params.assistant_id, body,
        leftSignal(reply))
      takeRows(shareFor(reply), rows)
      return sendRows(reply, rows, (row) => assistantJson(row))
    })

  app.post('/assistants/:assistant_id/latest', route('change', 'setLatestAssistantVersion', {
    ...one,
    body: SetLatest,
    summary: 'Make a version the active one',
  }), async ({ params, body, caller }, reply) => {
    const row = await assistants.setLatest(caller.tenant, params.assistant_id, body.version)
    return sendJson(reply, assistantJson(row))
  })
}

function graphRoutes(app: App, { assistants }: Parts): void {
  app.get('/assistants/:assistant_id/graph',
    route('read', 'getAssistantGraph', { ...one, querystring: DrawGraph, answer: 'Graph',
      summary: 'Get the graph as nodes and edges' }), async ({ params, query, caller }, reply) => {
    const drawn = await assistants.graph(caller.tenant, params.assistant_id, query.xray ?? false)
    return sendJson(reply, JSON.stringify(drawn))
  })

  app.get('/assistants/:assistant_id/schemas',
    route('read', 'getAssistantSchemas', { ...one, answer: 'GraphSchemas',
      summary: 'Get the schemas of the graph' }),
    async ({ params, caller }, reply) =>
      sendJson(reply, JSON.stringify(await assistants.schemas(caller.tenant, params.assistant_id))))

  const subgraphs = { tag, querystring: DescribeSubgraphs, answer: 'SubgraphSchemas' } as const
  app.get('/assistants/:assistant_id/subgraphs', route('read', 'getAssistantSubgraphs', {
    ...subgraphs,
    params: AssistantPath,
    summary: 'Get the schemas of every subgraph',
  }), async ({ params, query, caller }, reply) => {
    const found = await assistants.subgraphs(caller.tenant, params.assistant_id, null,
      query.recurse ?? false)
    return sendJson(reply, subgraphsJson(found))
  })

  app.get('/assistants/:assistant_id/subgraphs/:namespace', route('read', 'getAssistantSubgraph', {
    ...subgraphs,
    params: SubgraphPath,
    summary: 'Get the schemas of the subgraph at a namespace',
  }), async ({ params, query, caller }, reply) => {
    const found = await assistants.subgraphs(caller.tenant, params.assistant_id, params.namespace,
      query.recurse ?? false)
    return sendJson(reply, subgraphsJson(found))
  })
}

/** Each schema by both of its names: the official server for JavaScript sends the short ones. */
function subgraphsJson(found: Readonly<Record<string, GraphSchemas>>): string {
  const named = Object.entries(found).map((
    [namespace, schemas],
  ) => [namespace, { ...schemas, state: schemas.state_schema, input: schemas.input_schema,
    output: schemas.output_schema, config: schemas.config_schema }]
  )
  return JSON.stringify(Object.fromEntries(named))
}
