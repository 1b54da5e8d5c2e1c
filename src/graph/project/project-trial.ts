/** The trial run of a project: it must succeed on a revision before other runs are sent there. */

import { z } from 'zod'

import { effectsShape } from '../effect-rule.ts'
import { recordDaysShape, recordShape } from '../recording-rule.ts'
import { shapeError } from '../shape-error.ts'

/** A run, and what its values must contain. JSON texts. */
export interface TrialRun {
  readonly graphId: string
  readonly inputJson: string
  /** Missing if any end without an error will do. */
  readonly expectJson?: string
}

/** Characters of an input, and of what is expected. */
export const trialCharacters = 16_384

/** Members of `heddle` of a langgraph.json that a server reads. All else is for commands. */
export const heddleShape = z.looseObject({
  check: z.strictObject({
    graph: z.string('must be the id of a graph'),
    input: z.json('must be what the run begins with'),
    expect: z.json().optional(),
  }, { error: shapeError('must be {"graph": "agent", "input": {…}}, and perhaps "expect"') })
    .optional(),
  effects: effectsShape.optional(),
  record: recordShape.optional(),
  record_days: recordDaysShape.optional(),
}, { error: 'must be an object' })

/** The trial run that is named; undefined if there is none. */
export function trialOf({ check }: z.infer<typeof heddleShape>): TrialRun | undefined {
  if (check === undefined) return undefined
  const { graph: graphId, input, expect } = check
  return { graphId, inputJson: JSON.stringify(input),
    ...expect !== undefined && { expectJson: JSON.stringify(expect) } }
}

/** Fault of the trial run, with the field that is wrong; undefined if there is none. */
export function trialFault({ graphId, inputJson, expectJson = '' }: TrialRun,
  graphIds: readonly string[]): { readonly field: string; readonly message: string } | undefined {
  if (!graphIds.includes(graphId)) {
    return { field: 'heddle.check.graph', message: `names no graph: ${graphId}` }
  }
  const isLong = inputJson.length > trialCharacters || expectJson.length > trialCharacters
  return isLong
    ? { field: 'heddle.check', message: `may have ${trialCharacters} characters of JSON` }
    : undefined
}
