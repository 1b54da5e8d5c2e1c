/** The address of the playground: what it begins with, and the models that are asked. */

import { isObject } from '../json/is-object.ts'
import { searchOf, text } from './search.ts'

/** The forms in which endpoints are asked. */
export const dialects = ['openai', 'anthropic'] as const

/** An endpoint, in the words of the API. */
export interface Endpoint {
  readonly dialect: typeof dialects[number]
  readonly base_url: string
  readonly model: string
  /** Name of a secret; without it the endpoint is asked without a key. */
  readonly secret?: string
  readonly temperature?: number
  readonly max_tokens?: number
}

/** Model to ask: the prompt's own or else the default, a saved one by its name, or an endpoint. */
export type Model = 'default' | { readonly saved: string } | Endpoint

/** Maximum number of model columns beside each other. */
export const modelsMax = 4

/** Reads what it begins with; nothing for messages of one's own. */
export const readPlaygroundSearch = searchOf({
  prompt: text,
  /** A hash or a tag; the newest without it. */
  at: text,
  /** Id of the call of a model that it begins with, instead of a prompt. */
  span: text,
  project: text,
  trace: text,
  /** One column each; without it the one that is asked by default. */
  models: readModels,
})

/** Search parameters of the playground, each absent if its text is invalid. */
export type PlaygroundSearch = ReturnType<typeof readPlaygroundSearch>

/** Reads the models of an address; undefined if there are none. */
function readModels(value: unknown): readonly Model[] | undefined {
  const found = Array.isArray(value) ? value.map(modelIn).filter((each) => each !== undefined) : []
  return found.length === 0 ? undefined : found.slice(0, modelsMax)
}

function modelIn(value: unknown): Model | undefined {
  if (value === 'default') return value
  if (!isObject(value)) return undefined
  if (typeof value['saved'] === 'string') return { saved: value['saved'] }
  const { base_url: url, model, secret, temperature, max_tokens: tokens } = value
  const dialect = dialects.find((each) => each === value['dialect'])
  if (dialect === undefined || typeof url !== 'string' || typeof model !== 'string') {
    return undefined
  }
  return { dialect, base_url: url, model, ...typeof secret === 'string' && { secret },
    ...typeof temperature === 'number' && { temperature },
    ...typeof tokens === 'number' && { max_tokens: tokens } }
}
