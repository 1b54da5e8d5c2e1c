/** The models that a playground asks, as they stand in its address. Keys never do. Pure. */

import { isObject } from '../json/is-object.ts'

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

/** That of the prompt or else the default one, one of the workspace by its name, or an endpoint. */
export type Model = 'default' | { readonly saved: string } | Endpoint

/** A model that the workspace has kept. */
export interface SavedModel {
  readonly id: string
  readonly name: string
  readonly is_default: boolean
  readonly settings: Readonly<Record<string, unknown>>
}

/** Columns beside each other. */
export const modelsMax = 4

/** Where models of a dialect are, unless somebody says otherwise. */
export const usualUrls: Readonly<Record<Endpoint['dialect'], string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
}

/** Reads the models of an address; undefined if there are none. */
export function readModels(value: unknown): readonly Model[] | undefined {
  const found = Array.isArray(value) ? value.map(modelIn).filter((each) => each !== undefined) : []
  return found.length === 0 ? undefined : found.slice(0, modelsMax)
}

/** True for an endpoint that is named in whole. */
export const isEndpoint = (model: Model): model is Endpoint =>
  typeof model === 'object' && 'dialect' in model

/** What is sent as `model`: undefined for none. Throws if a kept model is no longer there. */
export function settingsOf(model: Model, saved: readonly SavedModel[]): object | undefined {
  if (model === 'default') return undefined
  if (isEndpoint(model)) return model
  const found = saved.find(({ name }) => name === model.saved)
  if (found === undefined) throw new Error(`There is no model ${model.saved} in this workspace.`)
  return found.settings
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

/** What columns have in common. */
export interface Workspace {
  /** Names of its secrets. */
  readonly secrets: readonly string[]
  readonly saved: readonly SavedModel[]
  /** Values of secrets that are not stored, by their names. */
  readonly brought: Readonly<Record<string, string>>
  readonly bring: (name: string, value: string) => void
}
