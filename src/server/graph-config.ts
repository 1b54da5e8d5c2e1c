/** Defaults for the assistants of graphs: from the server's settings, or else from its project. */

import { HeddleError } from '../errors.ts'
import type { Project } from '../graph/index.ts'
import { assistantDefaults, namesOf } from '../settings/index.ts'
import type { AssistantDefaults, Settings } from '../settings/index.ts'

/** The defaults by graph, and a sentence for each that is of no graph of the project. */
export interface GraphConfig {
  readonly defaults: ReadonlyMap<string, AssistantDefaults>
  readonly stray: readonly string[]
}

/** Variables of the process win over those of langgraph.json. Throws `invalid`. */
export function graphConfigOf({ graphConfig: said }: Pick<Settings, 'graphConfig'>,
  { env, graphs, configFile }: Pick<Project, 'env' | 'graphs' | 'configFile'>): GraphConfig {
  const text = said.size === 0 ? env['LANGGRAPH_CONFIG'] : undefined
  const read = text === undefined ? { value: said } : assistantDefaults.read(text)
  if ('faults' in read) {
    const messages = read.faults.map((fault) => `env.LANGGRAPH_CONFIG ${fault}`)
    throw new HeddleError('invalid', `${configFile} is not valid: ${messages.join('; ')}.`)
  }
  const { value: defaults = said } = read
  const name = text === undefined ? namesOf('graphConfig') : 'env.LANGGRAPH_CONFIG'
  const stray = [...defaults.keys()].filter((id) => !graphs.some(({ graphId }) => graphId === id))
    .map((id) => `${name} names ${id}, which is no graph of the project.`)
  return { defaults, stray }
}
