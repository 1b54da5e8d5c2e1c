/** The fields of filters: their words, and the form in which each is compared. */

/** Operator of a comparison, as the language has it. */
export type Operator = 'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte'

/** Objects of a run that have keys and values. */
export type EntrySource = 'metadata' | 'inputs' | 'outputs' | 'feedback'

/** Texts in which words are looked for. */
export const searchPlaces = ['name', 'error', 'inputs', 'outputs', 'tags', 'metadata'] as const

/** A place of a search. */
export type SearchPlace = typeof searchPlaces[number]

/** The form of a field: which comparisons and values it takes. */
export type FieldForm = 'text' | 'id' | 'choice' | 'number' | 'seconds' | 'dollars' | 'time'
  | 'flag' | 'error'

/** A field of the head of a run. */
interface FilterField {
  readonly words: string
  readonly form: FieldForm
  /** Values of a choice. */
  readonly values?: readonly string[]
  /** The field that means the same; it stands in the menu instead. */
  readonly sameAs?: string
}

/** All fields of runs, by their names in the language. */
export const filterFields: Readonly<Record<string, FilterField>> = {
  name: { words: 'Name', form: 'text' },
  run_type: { words: 'Type', form: 'choice',
    values: ['chain', 'llm', 'tool', 'retriever', 'embedding', 'prompt', 'parser'] },
  status: { words: 'Status', form: 'choice', values: ['error', 'success', 'pending'] },
  error: { words: 'Error', form: 'error' },
  is_root: { words: 'Root of its trace', form: 'flag' },
  start_time: { words: 'Started', form: 'time' },
  end_time: { words: 'Ended', form: 'time' },
  first_token_time: { words: 'First token', form: 'time' },
  latency: { words: 'Duration', form: 'seconds' },
  latency_seconds: { words: 'Duration', form: 'seconds', sameAs: 'latency' },
  total_tokens: { words: 'Tokens', form: 'number' },
  prompt_tokens: { words: 'Tokens in', form: 'number' },
  completion_tokens: { words: 'Tokens out', form: 'number' },
  total_cost: { words: 'Cost', form: 'dollars' },
  prompt_cost: { words: 'Cost of tokens in', form: 'dollars' },
  completion_cost: { words: 'Cost of tokens out', form: 'dollars' },
  execution_order: { words: 'Place in its trace', form: 'number' },
  id: { words: 'Run id', form: 'id' },
  trace_id: { words: 'Trace id', form: 'id' },
  parent_run_id: { words: 'Parent run id', form: 'id' },
  thread_id: { words: 'Thread id', form: 'text' },
  reference_example_id: { words: 'Example id', form: 'id' },
  project_id: { words: 'Project id', form: 'id' },
  session_id: { words: 'Project id', form: 'id', sameAs: 'project_id' },
}

/** Names of the fields for the keys and the values of objects. */
export const entryFields: Readonly<Record<EntrySource, {
  readonly words: string
  readonly key: string
  readonly value: string
  readonly score?: string
}>> = {
  metadata: { words: 'Metadata', key: 'metadata_key', value: 'metadata_value' },
  inputs: { words: 'Input', key: 'input_key', value: 'input_value' },
  outputs: { words: 'Output', key: 'output_key', value: 'output_value' },
  feedback: { words: 'Feedback', key: 'feedback_key', value: 'feedback_value',
    score: 'feedback_score' },
}

/** The object and the member that a field names; undefined for other fields. */
export function entryOf(field: string):
  | { readonly source: EntrySource; readonly member: 'key' | 'value' | 'score' }
  | undefined {
  for (const source of ['metadata', 'inputs', 'outputs', 'feedback'] as const) {
    const names = entryFields[source]
    for (const member of ['key', 'value', 'score'] as const)
      if (names[member] === field) return { source, member }
  }
  return undefined
}
