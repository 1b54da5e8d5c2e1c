/** Long values of a body that stay text until a graph reads them. */

import type { TSchema } from 'typebox'

import { callTools, createAssistant, createCron, createRun, createRuns, createStatelessRun,
  createThread, sendCommand, updateAssistant, updateCron,
  updateThreadState } from '../../api/index.ts'
import type { Carried } from '../../json/index.ts'

/** The numbers are levels that are parsed: names of channels and nodes must be readable. */
export const carriedByCommand = { resume: 1, update: 2, goto: 2 } as const

const byUpdate = { values: 1, command: carriedByCommand } as const
const byRun = { input: 0, context: 1, command: carriedByCommand } as const

const rules = new Map<TSchema, Carried>([
  [createRun.body, byRun],
  [createStatelessRun.body, byRun],
  [createCron.body, byRun],
  [updateCron.body, byRun],
  [createRuns.body, byRun],
  [updateThreadState.body, byUpdate],
  [sendCommand.body, {
    params: { input: 0, context: 1, command: carriedByCommand, update: 2, goto: 2, response: 0,
      responses: { response: 0 } },
  }],
  [createThread.body, { supersteps: { updates: byUpdate } }],
  [callTools.body, { params: { arguments: 0, inputResponses: 3 }, result: 2 }],
  [createAssistant.body, { context: 0 }],
  [updateAssistant.body, { context: 0 }],
])

/** The long values of a body with this schema. Empty for a schema without any. */
export function carriedBy(schema: unknown): Carried {
  return rules.get(schema as TSchema) ?? {}
}
