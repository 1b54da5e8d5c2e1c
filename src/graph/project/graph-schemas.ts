/** Schemas of a graph's input, output, state and configuration, as JSON Schema. */

import { isObject, memberOf, objectOf } from '../../json/index.ts'
import type { GraphSchemas } from '../execution.ts'
import type { ServedGraph } from './graph-export.ts'
import { messageList } from './message-schema.ts'

type JsonSchema = Record<string, unknown>

/** The engine's own conversion. It throws if JSON Schema cannot express a field. */
type Converter = (graph: ServedGraph) => unknown

/** The private parts of a StateGraph that its schemas are made from, also by the engine. */
interface Builder {
  readonly _inputDefinition?: object
  readonly _outputDefinition?: object
  readonly _schemaDefinition?: object
  readonly _inputRuntimeDefinition?: unknown
  readonly _outputRuntimeDefinition?: unknown
  readonly _schemaRuntimeDefinition?: unknown
  readonly _configRuntimeSchema?: unknown
}

/**
 * The schemas of a graph. A zod or StateSchema state describes its fields. An Annotation's types do
 * not exist at run time: its fields are named, lists of messages are recognised, the rest may be
 * anything. A graph without named state (an entrypoint) has no schemas.
 */
export async function graphSchemas(graph: ServedGraph): Promise<GraphSchemas> {
  const builder = isBuilder(graph.builder) ? graph.builder : undefined
  const convert = await converters()
  const configuration = builder === undefined
    ? null
    : first(graph, convert.getConfigTypeSchema, () => convert.loosely(builder._configRuntimeSchema))
  const state = (fields: object | undefined, conversion: Converter, definition: unknown) =>
    fields === undefined
      ? null
      : withFields(Object.keys(fields), convert.messageChannels(graph),
        first(graph, conversion, () => convert.loosely(definition)))
  const whole = builder?._schemaRuntimeDefinition
  const input = builder?._inputRuntimeDefinition
  return {
    input_schema: optional(
      state(builder?._inputDefinition, convert.getInputTypeSchema,
        typeof input === 'symbol' ? whole : input),
    ),
    output_schema: state(builder?._outputDefinition, convert.getOutputTypeSchema,
      builder?._outputRuntimeDefinition),
    state_schema: state(builder?._schemaDefinition, convert.getStateTypeSchema, whole),
    // LangGraph.js does not distinguish these two.
    config_schema: configuration,
    context_schema: configuration,
  }
}

function isBuilder(value: unknown): value is Builder {
  return isObject(value)
}

/** The project's packages, imported on the first request, as most processes never need them. */
async function converters() {
  const [schemas, { toJsonSchema }, engine] = await Promise.all([
    import('@langchain/langgraph/zod/schema'),
    import('@langchain/core/utils/json_schema'),
    import('@langchain/langgraph'),
  ])
  type Convertible = Parameters<typeof toJsonSchema>[0]
  return {
    ...schemas,
    /** Converts a type. One that JSON Schema cannot express becomes any. */
    loosely: (definition: unknown) =>
      definition === undefined
        ? undefined
        : toJsonSchema(definition as Convertible, { unrepresentable: 'any' }),
    /** Channels that add messages to messages, by the engine's reducers or by their name. */
    messageChannels: (graph: ServedGraph) =>
      new Set(Object.keys(graph.channels).filter((name) => {
        const channel = graph.channels[name]
        const reducer = memberOf(channel, 'reducer') ?? memberOf(channel, 'operator')
        return reducer !== undefined && (name === 'messages'
          || reducer === engine.messagesStateReducer || reducer === engine.messagesDeltaReducer)
      })),
  }
}

/** The result of the first conversion that succeeds; null if none does. */
function first(graph: ServedGraph, ...conversions: readonly Converter[]): JsonSchema | null {
  for (const convert of conversions) {
    try {
      const schema = convert(graph)
      if (isObject(schema)) return schema
    } catch {
      // This conversion does not know a field. The next one may.
    }
  }
  return null
}

function withFields(fields: readonly string[], messages: ReadonlySet<string>,
  schema: JsonSchema | null): JsonSchema {
  // A state without named fields is a single value.
  if (fields.includes('__root__')) return schema ?? {}
  const known = objectOf(schema?.['properties'])
  const properties = fields.map((field) => {
    const own = objectOf(known[field])
    const untyped = messages.has(field) && own['type'] === undefined
    return [field, untyped ? { ...messageList, ...own } : own] as const
  })
  return { type: 'object', ...schema, properties: Object.fromEntries(properties) }
}

/** Makes all fields optional, as an update names only the fields that it changes. */
function optional(schema: JsonSchema | null): JsonSchema | null {
  if (schema === null) return null
  const { required: _, ...rest } = schema
  return rest
}
