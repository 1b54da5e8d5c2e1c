/** The tools that a caller has: its assistants, each with its schemas. */

import type { AssistantRow } from '../../../proto/gen/storage/v1/row.ts'
import type { GraphSchemas } from '../../graph/index.ts'
import { HeddleError } from '../../errors.ts'
import type { Caller } from '../http/caller.ts'
import type { RouteParts } from '../http/route.ts'
import type { Json } from './message.ts'
import { RpcError } from './rpc-error.ts'
import { cleanName, toolNames, wordsOf } from './tool-name.ts'
import { inputSchemaOf, outputSchemaOf } from './tool-schema.ts'

type Assistants = RouteParts['assistants']

/** Assistants of a tenant that are tools: the oldest ones. */
const toolsMax = 1_000
/** Milliseconds that a list waits for types in TypeScript. */
const typesWaitMs = 1_000
/** Tools of a page of the list. */
const pageTools = 100

/** A tool, and the assistant behind it. */
export interface NamedTool {
  readonly name: string
  readonly row: AssistantRow
}

/** A page of tools as clients get them. */
export interface ToolPage {
  readonly tools: readonly Json[]
  /** Begins the next page; undefined for the last one. */
  readonly nextCursor: string | undefined
  /** An assistant whose schemas lack types that are still being read. */
  readonly loading: string | undefined
}

/** A page of the list. The cursor is the last tool before it. Throws RpcError. */
export async function listTools(assistants: Assistants, caller: Caller, cursor: unknown,
  cancelled?: AbortSignal): Promise<ToolPage> {
  const all = await namedTools(assistants, caller, {}, cancelled)
  const from = cursor == null ? 0 : all.findIndex(({ row }) => row.assistantId === cursor) + 1
  if (cursor != null && from === 0) {
    throw new RpcError('invalidParams', 'This cursor is of no page: list the tools from the start.')
  }
  const page = all.slice(from, from + pageTools)
  const schemas = schemaReader(assistants, caller)
  const found = await Promise.all(
    page.map(async (tool) => ({ tool, schemas: await schemas(tool.row) })),
  )
  return { tools: found.map(({ tool, schemas }) => toolJson(tool, schemas)),
    nextCursor: from + pageTools < all.length ? page.at(-1)!.row.assistantId : undefined,
    loading: found.findLast(({ schemas }) => schemas.types_loading === true)?.tool.row
      .assistantId }
}

/** The assistant behind a tool, by its id or by its graph. Throws RpcError if there is none. */
export async function assistantBehind(assistants: Assistants, caller: Caller, name: string,
  cancelled?: AbortSignal): Promise<string> {
  // Without a search: nearly all calls are of these.
  const graphIds = await assistants.graphIds(caller)
  const own = graphIds.find((graphId) => cleanName(graphId) === name)
  if (own !== undefined) return own
  for (const word of wordsOf(name)) {
    const found = await namedTools(assistants, caller, word === '' ? {} : { name: word }, cancelled)
    const tool = found.find((each) => each.name === name)
    if (tool !== undefined) return tool.row.assistantId
  }
  throw new RpcError('invalidParams', `Unknown tool: ${name.slice(0, 200)}`)
}

/** The oldest assistants whose names contain a text, with the names of their tools. */
async function namedTools(assistants: Assistants, caller: Caller,
  filter: { readonly name?: string }, cancelled?: AbortSignal): Promise<readonly NamedTool[]> {
  const rows: AssistantRow[] = []
  for (let total = 1; rows.length < Math.min(total, toolsMax);) {
    const page = await assistants.search(caller, { ...filter, limit: pageTools, offset: rows.length,
      sort_by: 'created_at', sort_order: 'asc' }, cancelled)
    if (page.rows.length === 0) break
    rows.push(...page.rows)
    total = page.total
  }
  const names = toolNames(rows, await assistants.graphIds(caller))
  return rows.map((row, index) => ({ row, name: names[index]! }))
}

/** Reads schemas, once for the assistants of a graph that give its factory the same settings. */
function schemaReader(assistants: Assistants, caller: Caller) {
  const known = new Map<string, Promise<Partial<GraphSchemas>>>()
  return ({ graphId, configJson, assistantId }: AssistantRow): Promise<Partial<GraphSchemas>> => {
    const key = `${graphId}\n${configJson}`
    const schemas = known.get(key) ??
      assistants.schemas(caller, assistantId, typesWaitMs).catch(unlessAbsent)
    known.set(key, schemas)
    return schemas
  }
}

/** A graph that cannot be looked into is a tool all the same: its call says what is wrong. */
function unlessAbsent(error: unknown): Partial<GraphSchemas> {
  if (HeddleError.from(error).retry !== 'no') throw error
  return {}
}

function toolJson({ name, row }: NamedTool, schemas: Partial<GraphSchemas>): Json {
  const described = JSON.parse(row.descriptionJson || 'null') as string | null
  const description = described || `Runs the graph ${row.graphId}.`
  return { name, title: row.name, description, inputSchema: inputSchemaOf(schemas.input_schema),
    outputSchema: outputSchemaOf(schemas.output_schema) }
}
