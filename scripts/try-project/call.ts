/** One call of a served project: each graph gives its schemas, and one of them runs. */

import { Client } from '@langchain/langgraph-sdk'

import { valueOf } from './model-answer.ts'
import type { Schema } from './model-answer.ts'

/** Reads the schemas of all graphs. Resolves with their count. Throws what the server says. */
export async function readGraphs(url: string, seconds: number): Promise<number> {
  const client = clientOf(url, seconds)
  const assistants = await client.assistants.search({ limit: 100 })
  for (const { assistant_id: id } of assistants) await client.assistants.getSchemas(id)
  return assistants.length
}

/** What is called, and with what. */
export interface Call {
  readonly seconds: number
  /** Names of graphs, those of its choice first. */
  readonly graphs: readonly string[]
  /** Members that the run has beside a message, or instead of it. */
  readonly run: Schema
}

/**
 * Runs the first graph that talks, or else the first. Throws what the run says. Resolves with the
 * number of threads that clients in its nodes made.
 */
export async function callGraph(url: string, { seconds, graphs, run }: Call): Promise<
  number
> {
  const client = clientOf(url, seconds)
  const found = await client.assistants.search({ limit: 100 })
  const known = await Promise.all(
    graphs.flatMap((graph) => found.find(({ graph_id: id }) => id === graph) ?? [])
      .map(async ({ assistant_id: id }) => ({ id, ...await client.assistants.getSchemas(id) })),
  )
  const talks = known.find(({ input_schema: schema }) => propertiesOf(schema)['messages'])
  const chosen = talks ?? known[0]
  if (chosen === undefined) throw new Error('there is no graph')
  const input = talks === undefined
    ? valueOf((chosen.input_schema ?? {}) as Schema)
    : { messages: [{ role: 'human', content: 'Hello, who are you?' }] }
  const { thread_id: thread } = await client.threads.create()
  await client.runs.wait(thread, chosen.id, { input: input as Record<string, unknown>, ...run })
  return await client.threads.count() - 1
}

function clientOf(url: string, seconds: number): Client {
  return new Client({ apiUrl: url, timeoutMs: seconds * 1_000, callerOptions: { maxRetries: 0 } })
}

function propertiesOf(schema: unknown): Schema {
  const { properties, $ref, definitions } = (schema ?? {}) as Schema
  if (typeof $ref !== 'string') return (properties ?? {}) as Schema
  return propertiesOf((definitions as Schema | undefined)?.[$ref.split('/').at(-1)!])
}
