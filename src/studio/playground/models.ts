/** The models that a playground asks, and those that the workspace has kept. Pure. */

import type { ConfiguredModel } from '../../api/index.ts'
import type { Endpoint, Model } from '../addresses/playground.ts'

/** Default address of the models of a provider. */
export const usualUrls: Readonly<Record<Endpoint['dialect'], string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
}

/** True for an endpoint that is named in whole. */
export const isEndpoint = (model: Model): model is Endpoint =>
  typeof model === 'object' && 'dialect' in model

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
  /** Values of secrets that are not stored, by their names. */
  readonly brought: Readonly<Record<string, string>>
  readonly bring: (name: string, value: string) => void
}
