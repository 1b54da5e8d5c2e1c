/** The address of the playground: what it begins with, and the models that are asked. */

import { textIn } from '../address.ts'
import type { RawSearch } from '../address.ts'
import { readModels } from './models.ts'
import type { Model } from './models.ts'

/** What it begins with; nothing for messages of one's own. */
export interface PlaygroundSearch {
  readonly prompt?: string | undefined
  /** A hash or a tag; the newest without it. */
  readonly at?: string | undefined
  /** Id of the call of a model that it begins with, instead of a prompt. */
  readonly span?: string | undefined
  readonly project?: string | undefined
  readonly trace?: string | undefined
  /** One column each; without it the one that is asked by default. */
  readonly models?: readonly Model[] | undefined
}

/** Reads it. */
export const readPlaygroundSearch = (raw: RawSearch): PlaygroundSearch => ({
  prompt: textIn(raw, 'prompt'),
  at: textIn(raw, 'at'),
  span: textIn(raw, 'span'),
  project: textIn(raw, 'project'),
  trace: textIn(raw, 'trace'),
  models: readModels(raw['models']),
})
