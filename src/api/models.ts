/** Models of a workspace: those that it has configured, their prices, and its secrets. */

import { Type } from 'typebox'

import { JsonObject, Maybe, Nullable, Text, Time, Uuid } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

const ById = Type.Object({ id: Uuid() })
const Name = () => Type.String({ minLength: 1, maxLength: 200 })
// As it is serialised.
const Settings = () => JsonObject({ 'x-max-characters': 96 * 1024 })

const NewModel = Type.Object({
  name: Name(),
  description: Maybe(Text(2_000)),
  settings: Settings(),
  // It is asked where none is named, in place of the one before.
  is_default: Type.Optional(Type.Boolean()),
})
const ModelChange = Type.Partial(NewModel)

const Model = Type.Object({
  id: Uuid(),
  name: Text(),
  description: Nullable(Text()),
  settings: JsonObject(),
  is_default: Type.Boolean(),
  created_at: Time(),
  updated_at: Time(),
}, { $id: 'ConfiguredModel', description: 'A model that a workspace has configured.' })

const LocalProgram = Type.Object({
  name: Text(),
  base_url: Text(),
  models: Type.Array(Text()),
}, { $id: 'LocalProgram', description: 'A program on this machine that serves models.' })

const Cost = () => Type.Number({ minimum: 0, maximum: 1_000_000 })
const Details = () => Maybe(JsonObject({ 'x-max-characters': 8 * 1024 }))

const PriceBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 500 }),
  match_pattern: Type.String({ minLength: 1, maxLength: 1_000 }),
  match_path: Maybe(Type.Array(Text(200), { maxItems: 20 })),
  prompt_cost: Cost(),
  completion_cost: Cost(),
  prompt_cost_details: Details(),
  completion_cost_details: Details(),
  provider: Maybe(Text(200)),
  start_time: Maybe(Text(100)),
}, { description: 'Costs are of one token, in dollars.' })

const Price = Type.Object({ id: Uuid(), ...PriceBody.properties }, {
  $id: 'ModelPrice',
  description: 'The price of the models whose names fit a pattern.',
})

const PerMillion = () => Type.Number({ minimum: 0 })

const UsualPrices = Type.Object({
  as_of: Type.String({ description: 'The day on which the prices were known.' }),
  prices: Type.Array(Type.Object({
    provider: Text(),
    name: Text(),
    input: PerMillion(),
    cached_input: Nullable(PerMillion()),
    cache_write: Nullable(PerMillion()),
    output: PerMillion(),
  })),
}, { $id: 'UsualPrices', description: 'Built-in list prices, in dollars for a million tokens. ' +
  'Null: as the input.' })

const SecretNames = Type.Array(Type.Object({ key: Text() }))

export const listModels = operation('GET', '/api/v1/playground-settings', {
  access: 'read',
  summary: 'List configured models',
  answer: Type.Array(Model),
})

export const listLocalModels = operation('GET', '/api/v1/playground-settings/local', {
  access: 'read',
  summary: 'Find the models that programs on this machine serve',
  answer: Type.Array(LocalProgram),
})

export const createModel = operation('POST', '/api/v1/playground-settings', {
  access: 'change',
  summary: 'Configure a model',
  body: NewModel,
  answer: Model,
})

export const patchModel = operation('PATCH', '/api/v1/playground-settings/:id', {
  access: 'change',
  summary: 'Change a configured model: a member that is missing stays',
  params: ById,
  body: ModelChange,
  answer: Model,
})

export const deleteModel = operation('DELETE', '/api/v1/playground-settings/:id', {
  access: 'change',
  summary: 'Delete a configured model',
  params: ById,
})

export const listPrices = operation('GET', '/api/v1/model-price-map', {
  access: 'read',
  summary: 'List prices',
  answer: Type.Array(Price),
})

export const listUsualPrices = operation('GET', '/api/v1/model-price-map/usual', {
  access: 'read',
  summary: 'List the built-in prices, which hold where a workspace has none of its own',
  answer: UsualPrices,
})

export const createPrice = operation('POST', '/api/v1/model-price-map', {
  access: 'change',
  summary: 'Create a price',
  body: PriceBody,
  answer: Price,
})

export const replacePrice = operation('PUT', '/api/v1/model-price-map/:id', {
  access: 'change',
  summary: 'Replace a price',
  params: ById,
  body: PriceBody,
  answer: Price,
})

export const deletePrice = operation('DELETE', '/api/v1/model-price-map/:id', {
  access: 'change',
  summary: 'Delete a price',
  params: ById,
})

export const listWorkspaceSecrets = operation('GET', '/api/v1/workspaces/current/secrets', {
  access: 'read',
  summary: 'List the names of secrets',
  answer: SecretNames,
})

export const changeWorkspaceSecrets = operation('POST', '/api/v1/workspaces/current/secrets', {
  access: 'change',
  summary: 'Store secrets, or delete those whose value is null',
  body: Type.Array(Type.Object({ key: Text(), value: Nullable(Text()) }), { maxItems: 100 }),
  raw: true,
  answer: SecretNames,
})

/** A change of a configured model as a client writes it. */
export type ModelChange = Value<typeof ModelChange>
/** A new model as a client writes it. */
export type NewModel = Value<typeof NewModel>
/** A model that a workspace has configured. */
export type ConfiguredModel = Value<typeof Model>
/** A program on this machine that serves models. */
export type LocalProgram = Value<typeof LocalProgram>
/** A price as a client writes it. */
export type PriceBody = Value<typeof PriceBody>
/** Built-in prices, and the day on which they were known. */
export type UsualPrices = Value<typeof UsualPrices>
/** The price of the models whose names fit a pattern. */
export type ModelPrice = Value<typeof Price>
