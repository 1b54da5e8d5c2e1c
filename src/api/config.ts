/** The config of a graph, as LangChain has it. */

import { Type } from 'typebox'

import { JsonObject, Nullable } from './json.ts'

/** Bounded, because LangGraph copies a config key by key for each task. */
const keysOfConfig = { maxProperties: 1_000 }

/** Schema of a LangChain config, of an assistant or a run. */
export const RunnableConfig = () =>
  Type.Object({
    tags: Type.Optional(Type.Array(Type.String())),
    recursion_limit: Type.Optional(Type.Integer({ minimum: 1 })),
    max_concurrency: Type.Optional(Type.Integer({ minimum: 1 })),
    configurable: Type.Optional(JsonObject(keysOfConfig)),
    metadata: Type.Optional(Nullable(JsonObject(keysOfConfig))),
  }, { ...keysOfConfig, additionalProperties: true,
    description: 'Config for the graph. Other keys are kept.' })
