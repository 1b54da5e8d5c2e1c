/** Filters of traces in the language of the API: `and(eq(status, "error"), gt(latency, 2))`. */

import { decimal } from './filter-parts.ts'
import type { Comparison, FeedbackScore, FilterPart, NumberField,
  TextField } from './filter-parts.ts'
import { readSyntax } from './filter-syntax.ts'
import type { FilterCall, Scalar } from './filter-syntax.ts'

const calls: Readonly<Record<Comparison, string>> = { '>': 'gt', '>=': 'gte', '<': 'lt',
  '<=': 'lte' }
const textNames: Readonly<Record<TextField, string>> = { status: 'status', name: 'name',
  type: 'run_type', thread: 'thread_id' }
const numberNames: Readonly<Record<NumberField, string>> = { latency: 'latency',
  tokens: 'total_tokens' }

/** Writes a filter; undefined for one without conditions. */
export function writeLanguage(parts: readonly FilterPart[]): string | undefined {
  const words = parts.flatMap((part) => part.kind === 'word' ? [part.text] : [])
  const all = [
    ...words.some((word) => word.trim() !== '')
      ? [`search(${JSON.stringify(words.join(' '))})`]
      : [],
    ...parts.flatMap((part) => part.kind === 'word' ? [] : [languageOf(part)]),
  ]
  return all.length < 2 ? all[0] : `and(${all.join(', ')})`
}

/** Reads a filter. Undefined if words cannot say it: it is a filter nevertheless. */
export function readLanguage(text: string): readonly FilterPart[] | undefined {
  const read = readSyntax(text)
  if ('error' in read || read.value.kind !== 'call') return undefined
  const { value } = read
  const pair = pairOf(value)
  if (pair !== undefined) return [pair]
  if (value.name !== 'and') return conditionOf(value)
  const all = value.values.map((each) =>
    each.kind === 'call' ? pairOf(each) ?? conditionOf(each) : undefined
  )
  return all.includes(undefined) ? undefined : all.flatMap((each) => each ?? [])
}

/** True if a text is meant to be a filter of the API. */
export const isLanguage = (text: string): boolean =>
  /^\s*(?:and|or|not|eq|neq|gte?|lte?|in|has|search)\s*\(/.test(text)

function languageOf(part: Exclude<FilterPart, { kind: 'word' }>): string {
  switch (part.kind) {
    case 'field':
      return `eq(${textNames[part.field]}, ${JSON.stringify(part.value)})`
    case 'number':
      return `${calls[part.comparison]}(${numberNames[part.field]}, ${decimal(part.value)})`
    case 'tag':
      return `has(tags, ${JSON.stringify(part.value)})`
    case 'metadata':
      return `and(eq(metadata_key, ${JSON.stringify(part.key)}), eq(metadata_value, ${
        JSON.stringify(part.value)
      }))`
    case 'feedback': {
      const key = `eq(feedback_key, ${JSON.stringify(part.key)})`
      if (part.score === undefined) return key
      const { comparison, value } = part.score
      return `and(${key}, ${calls[comparison]}(feedback_score, ${decimal(value)}))`
    }
  }
}

const comparisonOf: Readonly<Record<string, Comparison>> = { gt: '>', gte: '>=', lt: '<',
  lte: '<=' }

function conditionOf({ name, values }: FilterCall): readonly FilterPart[] | undefined {
  const [first, second] = values
  if (name === 'search' && values.length === 1 && first?.kind === 'scalar' && isWord(first.value)) {
    const words = String(first.value).split(/\s+/).filter((word) => word !== '')
    return words.map((text) => ({ kind: 'word', text }))
  }
  if (first?.kind !== 'name' || second?.kind !== 'scalar' || values.length > 2) return undefined
  const { value } = second
  if (!isWord(value)) return undefined
  if (name === 'has' && first.name === 'tags') return [{ kind: 'tag', value: String(value) }]
  if (name === 'eq' && first.name === 'feedback_key') {
    return [{ kind: 'feedback', key: String(value) }]
  }
  const textField = keyOf(textNames, first.name)
  if (name === 'eq' && textField !== undefined) {
    return [{ kind: 'field', field: textField, value: String(value) }]
  }
  const numberField = keyOf(numberNames, first.name)
  const comparison = comparisonOf[name]
  return numberField === undefined || comparison === undefined || !isCountable(value)
    ? undefined
    : [{ kind: 'number', field: numberField, comparison, value }]
}

/** Two conditions that belong together: a key with its value, or with its score. */
function pairOf({ name, values }: FilterCall): FilterPart | undefined {
  const [first, second] = values
  if (name !== 'and' || values.length !== 2 || first?.kind !== 'call' || second?.kind !== 'call') {
    return undefined
  }
  const [key, value] = [comparedWith(first, 'eq'), comparedWith(second)]
  if (key === undefined || value === undefined) return undefined
  const pair = `${key.name} ${value.name}`
  if (pair === 'metadata_key metadata_value' && second.name === 'eq') {
    return { kind: 'metadata', key: String(key.value), value: String(value.value) }
  }
  const comparison = comparisonOf[second.name]
  if (pair !== 'feedback_key feedback_score' || comparison === undefined ||
    typeof value.value !== 'number' || !isExact(value.value)) return undefined
  const score: FeedbackScore = { comparison, value: value.value }
  return { kind: 'feedback', key: String(key.value), score }
}

function comparedWith({ name, values: [field, value] }: FilterCall, only?: string) {
  return field?.kind === 'name' && value?.kind === 'scalar' && isWord(value.value) &&
      (only === undefined || name === only)
    ? { name: field.name, value: value.value }
    : undefined
}

/** Words have no constants. */
const isWord = (value: Scalar): value is string | number =>
  typeof value === 'string' || typeof value === 'number'
const isExact = (value: number) => Number(decimal(value)) === value
const isCountable = (value: string | number): value is number =>
  typeof value === 'number' && value >= 0 && isExact(value)

function keyOf<Key extends string>(names: Readonly<Record<Key, string>>, name: string):
  | Key
  | undefined {
  return (Object.keys(names) as Key[]).find((key) => names[key] === name)
}
