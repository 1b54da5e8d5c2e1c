/** The models that a playground asks, and those that the workspace has kept. Pure. */

import type { ConfiguredModel, LocalProgram } from '../../api/index.ts'
import type { Endpoint, Model } from '../addresses/playground.ts'
import { isObject } from '../json/is-object.ts'

/** Default address of the models of a provider. */
export const usualUrls: Readonly<Record<Endpoint['dialect'], string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
}

/** True for an endpoint that is named in whole. */
export const isEndpoint = (model: Model): model is Endpoint =>
  typeof model === 'object' && 'dialect' in model

/** The endpoint of a model that a program on this machine serves. */
export const localEndpoint = (program: Pick<LocalProgram, 'base_url'>,
  model: string): Endpoint => ({
    dialect: 'openai',
    base_url: program.base_url,
    model,
  })

/** True for an endpoint of a program on this machine. */
export const isLocal = (model: Model, programs: readonly LocalProgram[]): model is Endpoint =>
  isEndpoint(model) &&
  programs.some(({ base_url: url, models }) =>
    url === model.base_url && models.includes(model.model)
  )

/** True for a prompt that names its model. */
const namesModel = (manifest: unknown): boolean =>
  isObject(manifest) && Array.isArray(manifest['id']) &&
  manifest['id'].at(-1) === 'RunnableSequence'

/**
 * Model that is asked where nobody has chosen one: the prompt's, else the default of the workspace,
 * else one on this machine; undefined if there is none.
 */
export function usualModel(manifest: unknown,
  { saved, programs }: Pick<Workspace, 'saved' | 'programs'>): Model | undefined {
  if (namesModel(manifest) || hasDefault(saved)) return 'default'
  const [program] = programs
  return program && localEndpoint(program, program.models[0]!)
}

/** True if the workspace has a model that is asked where none is named. */
const hasDefault = (saved: readonly Pick<ConfiguredModel, 'is_default'>[]): boolean =>
  saved.some(({ is_default: isDefault }) => isDefault)

/** Value of `model` in a call: undefined for the default. Throws if a saved model was deleted. */
export function settingsOf(model: Model,
  saved: readonly Pick<ConfiguredModel, 'name' | 'settings'>[]): object | undefined {
  if (model === 'default') return undefined
  if (isEndpoint(model)) return model
  const found = saved.find(({ name }) => name === model.saved)
  if (found === undefined) throw new Error(`There is no model ${model.saved} in this workspace.`)
  return found.settings
}

/** Parts of the workspace that all columns share. */
export interface Workspace {
  /** Names of its secrets. */
  readonly secrets: readonly string[]
  readonly saved: readonly ConfiguredModel[]
  /** Programs on the server's machine that serve models. */
  readonly programs: readonly LocalProgram[]
  /** Values of secrets that are not stored, by their names. */
  readonly brought: Readonly<Record<string, string>>
  readonly bring: (name: string, value: string) => void
}

/** Hint at what the fields of a model lack, in words; undefined if it can be asked. */
export function faultOfModel(model: Model): string | undefined {
  if (!isEndpoint(model)) return undefined
  if (!/^https?:\/\/\S+$/.test(model.base_url.trim())) {
    return 'Give the URL of the model: it begins with http:// or https://'
  }
  return model.model.trim() === '' ? 'Give the name of the model' : undefined
}
