/** The routes of assistants. */

import { countAssistants, createAssistant, deleteAssistant, getAssistant, getAssistantGraph,
  getAssistantSchemas, getAssistantSubgraph, getAssistantSubgraphs, listAssistantVersions,
  searchAssistants, setLatestAssistantVersion, updateAssistant } from '../../api/index.ts'
import type { GraphSchemas } from '../../graph/index.ts'
import { leftSignal, sendJson, sendRows, shareFor } from '../http/list-reply.ts'
import { assistantJson } from '../http/render.ts'
import { sendPage } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { serve } from '../http/serve.ts'

type Parts = Pick<RouteParts, 'assistants'>

/** Adds the routes of assistants, their versions and their graphs. */
export function assistantRoutes(app: App, { assistants }: Parts): void {
  serve(app, createAssistant,
    async ({ body, caller }, reply) =>
      sendJson(reply, assistantJson(await assistants.create(caller, body))))
  serve(app, getAssistant,
    async ({ params, caller }, reply) =>
      sendJson(reply, assistantJson(await assistants.get(caller, params.assistant_id))))
  serve(app, updateAssistant, async ({ params, body, caller }, reply) => {
    const row = await assistants.patch(caller, params.assistant_id, body)
    return sendJson(reply, assistantJson(row))
  })
  serve(app, deleteAssistant,
    async ({ params, query, caller }) =>
      assistants.delete(caller, params.assistant_id, query.delete_threads ?? false))
  serve(app, searchAssistants, async ({ body, caller }, reply) => {
    const { rows, total } = await assistants.search(caller, body, leftSignal(reply))
    takeRows(shareFor(reply), rows)
    const json = (row: typeof rows[number]) => assistantJson(row, body.select)
    return sendPage(reply, { rows, json, total, offset: body.offset ?? 0 })
  })
  serve(app, countAssistants,
    async ({ body, caller }, reply) =>
      sendJson(reply, String(await assistants.count(caller, body, leftSignal(reply)))))
  versionRoutes(app, { assistants })
  graphRoutes(app, { assistants })
}

function versionRoutes(app: App, { assistants }: Parts): void {
  serve(app, listAssistantVersions, async ({ params, body, caller }, reply) => {
    const rows = await assistants.versions(caller, params.assistant_id, body, leftSignal(reply))
    takeRows(shareFor(reply), rows)
    return sendRows(reply, rows, (row) => assistantJson(row))
  })
  serve(app, setLatestAssistantVersion, async ({ params, body, caller }, reply) => {
    const row = await assistants.setLatest(caller, params.assistant_id, body.version)
    return sendJson(reply, assistantJson(row))
  })
}

function graphRoutes(app: App, { assistants }: Parts): void {
  serve(app, getAssistantGraph, async ({ params, query, caller }, reply) => {
    const drawn = await assistants.graph(caller, params.assistant_id, query.xray ?? false)
    return sendJson(reply, JSON.stringify(drawn))
  })
  serve(app, getAssistantSchemas,
    async ({ params, caller }, reply) =>
      sendJson(reply, JSON.stringify(await assistants.schemas(caller, params.assistant_id))))
  serve(app, getAssistantSubgraphs, async ({ params, query, caller }, reply) => {
    const found = await assistants.subgraphs(caller, params.assistant_id, null,
      query.recurse ?? false)
    return sendJson(reply, subgraphsJson(found))
  })
  serve(app, getAssistantSubgraph, async ({ params, query, caller }, reply) => {
    const found = await assistants.subgraphs(caller, params.assistant_id, params.namespace,
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
