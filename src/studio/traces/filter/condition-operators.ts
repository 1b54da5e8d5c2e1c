/** The entries of the menu of conditions: fields in groups, and the operators of each. Pure. */

import { entryFields, filterFields, searchPlaces } from './filter-fields.ts'
import type { FieldForm } from './filter-fields.ts'

/** Words of operators by their names. */
export type OperatorWords = Readonly<Record<string, string>>

const presence = { set: 'is set', unset: 'is not set' }
const equality = { eq: 'is', neq: 'is not' }
const order = { gt: '>', gte: '≥', lt: '<', lte: '≤' }
const amounts = { ...order, eq: '=', neq: '≠', ...presence }

const byForm: Readonly<Record<FieldForm, OperatorWords>> = {
  text: { ...equality, in: 'is one of', ...presence },
  id: { ...equality, in: 'is one of', ...presence },
  choice: { ...equality, in: 'is one of' },
  number: amounts,
  seconds: amounts,
  dollars: amounts,
  time: { gt: 'after', gte: 'from', lt: 'before', lte: 'until', ...presence },
  flag: { true: 'yes', false: 'no' },
  error: { ...presence, ...equality },
}

const entryOperators = { eq: 'is', neq: 'is not', ...order, exists: 'is there' }
const scoreOperators = { ...order, eq: '=', neq: '≠' }

/** Entries of the menu that are no fields of the head of a run. */
const others: Readonly<
  Record<string, { readonly words: string; readonly operators: OperatorWords }>
> = {
  tags: { words: 'Tag', operators: { has: 'is' } },
  search: { words: 'Words',
    operators: Object.fromEntries([['', 'in any text'],
      ...searchPlaces.map((place) => [place, `in ${place}`])]) },
  metadata: { words: entryFields.metadata.words, operators: entryOperators },
  inputs: { words: entryFields.inputs.words, operators: entryOperators },
  outputs: { words: entryFields.outputs.words, operators: entryOperators },
  feedback_score: { words: 'Feedback score', operators: scoreOperators },
  feedback: { words: 'Feedback value', operators: entryOperators },
  contains: { words: 'Metadata as JSON', operators: { has: 'contains' } },
  code: { words: 'Code', operators: {} },
}

/** Entries of the menu, in groups. */
export const menuGroups: readonly { readonly words: string; readonly fields: readonly string[] }[] =
  [
    { words: 'Run', fields: ['name', 'run_type', 'status', 'error', 'tags', 'is_root'] },
    { words: 'Content', fields: ['search', 'metadata', 'contains', 'inputs', 'outputs'] },
    { words: 'Feedback', fields: ['feedback_score', 'feedback'] },
    { words: 'Time', fields: ['latency', 'start_time', 'end_time', 'first_token_time'] },
    { words: 'Tokens and cost',
      fields: ['total_tokens', 'prompt_tokens', 'completion_tokens', 'total_cost', 'prompt_cost',
        'completion_cost'] },
    { words: 'Place',
      fields: ['thread_id', 'trace_id', 'id', 'parent_run_id', 'reference_example_id', 'project_id',
        'execution_order'] },
    { words: 'Language', fields: ['code'] },
  ]

/** The words of an entry of the menu. */
export const menuWords = (field: string): string =>
  others[field]?.words ?? filterFields[field]?.words ?? field

/** The operators of an entry of the menu. */
export const operatorsOf = (field: string): OperatorWords =>
  others[field]?.operators ?? byForm[filterFields[field]?.form ?? 'text']
