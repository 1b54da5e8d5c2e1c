/** The label by which the recording of a stateless run is found: no index of runs has it. Pure. */

import { isOneOf, listOf, valueIn } from '../../json/index.ts'

/** A stateless run as its label says it. */
export interface RunLabel {
  readonly runId: string
  readonly graphId: string
  /** The revision that executed it; empty for none. */
  readonly revision: string
  readonly status: LabelStatus
}

/** Ends of runs that ended by themselves. */
export type LabelStatus = (typeof labelStatuses)[number]

/** All ends that a label has. */
export const labelStatuses = ['success', 'error'] as const

/** Characters of a label. */
export const labelMax = 1_000

const idForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** The label as a text; undefined if it is too long. */
export function labelText({ runId, graphId, revision, status }: RunLabel): string | undefined {
  const text = JSON.stringify([runId, graphId, revision, status])
  return text.length <= labelMax ? text : undefined
}

/** The label in a text, which user code could have written. Undefined if it is none. */
export function labelIn(text: string): RunLabel | undefined {
  const [runId, graphId, revision, status] = partsOf(text)
  const isLabel = typeof runId === 'string' && idForm.test(runId) && typeof graphId === 'string'
    && typeof revision === 'string' && isOneOf(labelStatuses, status)
  return isLabel ? { runId, graphId, revision, status } : undefined
}

function partsOf(text: string): readonly unknown[] {
  try {
    return listOf(valueIn(text))
  } catch {
    return []
  }
}
