/** The conditions of a plan that SQL decides for each span that is looked at. */

import type { Plan, RangeField } from '../../../platform/index.ts'
import type { Value } from '../file/database.ts'
import { termBytes } from '../span-rows/span-row.ts'

/** A condition and its values, in the order of their marks. */
export interface Conditions {
  /** Empty if all spans meet it. */
  readonly sql: string
  readonly values: readonly Value[]
}

/** Conditions of one kind that are decided here; the reader of the heads decides all of them. */
const decidedMax = 8

const ranged: Readonly<Record<RangeField, string>> = {
  startUs: 'start_us',
  endUs: 'start_us + end_us',
  latencyUs: 'end_us',
  promptTokens: 'prompt',
  completionTokens: 'completion',
  totalTokens: 'total',
  promptCost: 'prompt_cost',
  completionCost: 'completion_cost',
  totalCost: 'total_cost',
  firstTokenUs: 'start_us + first_us',
}

/** The conditions of a plan besides project and start. */
export function conditionsOf({ rootsOnly, type, name, ranges, terms }: Plan): Conditions {
  const conditions: string[] = []
  const values: Value[] = []
  const add = (sql: string, ...given: Value[]) => {
    conditions.push(sql)
    values.push(...given)
  }
  if (rootsOnly) add('root = 1')
  if (type !== null) add('type = ?', type)
  if (name !== null) add('name = ?', name)
  for (const { field, op, value } of ranges.slice(0, decidedMax)) {
    add(`${ranged[field]} ${op} ?`, value)
  }
  for (const term of terms.slice(0, decidedMax)) add('instr(terms, ?) > 0', termBytes([term]))
  return { sql: conditions.join(' AND '), values }
}
