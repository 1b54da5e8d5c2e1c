/** What each body only carries: long values that a graph reads, and nobody on the way. */

import type { TObject } from 'typebox'

import type { Carried } from '../../json/index.ts'
import { CreateAssistant, PatchAssistant } from './assistant.ts'
import { CreateRun, CreateStatelessRun } from './run.ts'
import { UpdateState } from './state.ts'
import { CreateThread } from './thread.ts'

/** Names of channels and nodes can be looked at. */
export const carriedByCommand = { resume: 1, update: 2, goto: 2 } as const

const byUpdate = { values: 1, command: carriedByCommand } as const
const byRun = { input: 0, context: 1, command: carriedByCommand } as const

const rules = new Map<TObject, Carried>([
  [CreateRun, byRun],
  [CreateStatelessRun, byRun],
  [UpdateState, byUpdate],
  [CreateThread, { supersteps: { updates: byUpdate } }],
  [CreateAssistant, { context: 0 }],
  [PatchAssistant, { context: 0 }],
])

/** Nothing, unless the schema is known to carry something. */
export function carriedBy(schema: unknown): Carried {
  return rules.get(schema as TObject) ?? {}
}
