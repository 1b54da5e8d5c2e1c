/** The form of one condition, and the condition that it becomes. Pure. */

import { localText } from '../../parts/times/moment.ts'
import { operatorsOf } from './condition-operators.ts'
import { readExpression, writeExpression } from './expression.ts'
import type { Condition, EntryTest, Expression } from './expression.ts'
import { conditionIn } from './expression-edit.ts'
import { filterFields, searchPlaces } from './filter-fields.ts'
import type { EntrySource, Operator } from './filter-fields.ts'
import type { Read, Scalar } from './filter-syntax.ts'

/** Content of the form: an entry of the menu, its operator, and what was typed. */
export interface Draft {
  readonly field: string
  readonly operator: string
  readonly key: string
  readonly value: string
  readonly isNegated: boolean
}

/** An empty form of an entry of the menu. */
export const emptyDraft = (field: string): Draft => ({ field, key: '', value: '', isNegated: false,
  operator: Object.keys(operatorsOf(field))[0] ?? '' })

/** Entries of the menu that ask for a key. */
export const hasKey = ({ field }: Draft): boolean => sourceOf(field) !== undefined

/** True if the form asks for a value. */
export const hasValue = ({ field, operator }: Draft): boolean =>
  !['set', 'unset', 'exists'].includes(operator) && filterFields[field]?.form !== 'flag'

/** The form of a condition. What the menu cannot say becomes code. */
export function draftOf(expression: Expression): Draft {
  const seen = conditionIn(expression)
  const draft = seen && draftOfCondition(seen.condition)
  return draft !== undefined && Object.hasOwn(operatorsOf(draft.field), draft.operator)
    ? { ...draft, isNegated: seen!.isNegated }
    : { ...emptyDraft('code'), value: writeExpression(expression) ?? '' }
}

/** The condition of a form, or the message that says what is missing. */
export function expressionOf(draft: Draft): Read<Expression> {
  const read = draft.field === 'code' ? readExpression(draft.value) : conditionOf(draft)
  if ('error' in read || !draft.isNegated) return read
  const { value } = read
  return { value: value.kind === 'not' ? value.of : { kind: 'not', of: value } }
}

const plain = (field: string, operator: string, value = '', key = ''): Draft => ({ field, operator,
  value, key, isNegated: false })

function draftOfCondition(condition: Condition): Draft | undefined {
  switch (condition.kind) {
    case 'field':
      return fieldDraft(condition)
    case 'in':
      return condition.values.every((each) =>
          typeof each === 'string' && /^[^,\s]/u.test(each) &&
          !each.includes(',')
        )
        ? plain(condition.field, 'in', condition.values.join(', '))
        : undefined
    case 'has':
      return plain(condition.field === 'tags' ? 'tags' : 'contains', 'has', condition.value)
    case 'search':
      return plain('search', condition.place ?? '', condition.words)
    case 'entry': {
      const { source, key = '', test } = condition
      const field = source === 'feedback' && test?.member === 'score' ? 'feedback_score' : source
      if (test === undefined) return plain(field, 'exists', '', key)
      return test.value === null
        ? undefined
        : plain(field, test.operator, String(test.value), key)
    }
    case 'code':
      return plain('code', '', condition.text)
  }
}

function fieldDraft({ field: name, operator, value }: Extract<Condition, { kind: 'field' }>):
  | Draft
  | undefined {
  const field = filterFields[name]?.sameAs ?? name
  if (value === null) {
    return operator === 'eq' || operator === 'neq'
      ? plain(field, operator === 'eq' ? 'unset' : 'set')
      : undefined
  }
  const { form } = filterFields[field]!
  if (form === 'flag') {
    const isYes = (operator === 'eq') === value
    return typeof value === 'boolean' && (operator === 'eq' || operator === 'neq')
      ? plain(field, String(isYes))
      : undefined
  }
  if (form !== 'time') return plain(field, operator, String(value))
  const local = localTime(typeof value === 'boolean' ? NaN : value)
  return local === undefined ? undefined : plain(field, operator, local)
}

/** A time as the browser's own field has it, which knows no seconds. */
function localTime(value: string | number): string | undefined {
  const ms = new Date(value).getTime()
  return ms % 60_000 === 0 ? localText(ms) : undefined
}

function sourceOf(field: string): EntrySource | undefined {
  if (field === 'feedback_score') return 'feedback'
  return (['metadata', 'inputs', 'outputs', 'feedback'] as const).find((each) => each === field)
}

function conditionOf(draft: Draft): Read<Expression> {
  const { field, operator, value } = draft
  const source = sourceOf(field)
  if (source !== undefined) return entryOf(draft, source)
  const form = filterFields[field]?.form
  const of = (given: Scalar, compared = operator as Operator): Read<Expression> => ({
    value: { kind: 'field', field, operator: compared, value: given },
  })
  if (form === 'flag') return of(operator === 'true', 'eq')
  if (operator === 'set') return of(null, 'neq')
  if (operator === 'unset') return of(null, 'eq')
  if (value.trim() === '') return { error: 'A value is missing.' }
  if (field === 'tags') return { value: { kind: 'has', field: 'tags', value } }
  if (field === 'search') {
    const place = searchPlaces.find((each) => each === operator)
    return { value: { kind: 'search', words: value, ...place !== undefined && { place } } }
  }
  if (field === 'contains') return containsOf(value)
  if (operator === 'in') {
    const values = value.split(',').map((each) => each.trim()).filter((each) => each !== '')
    return values.length === 0
      ? { error: 'Write values with commas between them.' }
      : { value: { kind: 'in', field, values } }
  }
  const read = scalarOf(form ?? 'text', value)
  return 'error' in read ? read : of(read.value)
}

const secondsOf: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 }

function scalarOf(form: string, text: string): Read<Scalar> {
  const number = Number(text)
  switch (form) {
    case 'seconds': {
      const [, digits, unit = 's'] = /^(-?\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim()) ?? []
      return digits === undefined
        ? { error: 'Write it like 2s, 500ms or 3m.' }
        // Microseconds are what the server compares.
        : { value: Number((Number(digits) * secondsOf[unit]!).toFixed(6)) }
    }
    case 'number':
    case 'dollars':
      return Number.isFinite(number) ? { value: number } : { error: 'Write a number.' }
    case 'time': {
      const time = new Date(text)
      return Number.isNaN(time.getTime())
        ? { error: 'Write a date and a time.' }
        : { value: time.toISOString() }
    }
    default:
      return { value: text }
  }
}

function containsOf(value: string): Read<Expression> {
  const error = 'Write an object as JSON, such as {"customer": "c-1"}.'
  try {
    const read: unknown = JSON.parse(value)
    return typeof read === 'object' && read !== null && !Array.isArray(read)
      ? { value: { kind: 'has', field: 'metadata', value } }
      : { error }
  } catch {
    return { error }
  }
}

function entryOf({ field, operator, key, value }: Draft, source: EntrySource): Read<Expression> {
  const isThere = operator === 'exists'
  if (isThere && key.trim() === '') return { error: 'A key is missing.' }
  if (!isThere && value.trim() === '') return { error: 'A value is missing.' }
  const named = key.trim() === '' ? {} : { key: key.trim() }
  if (isThere) return { value: { kind: 'entry', source, ...named } }
  const isScore = field === 'feedback_score'
  const isOrder = operator !== 'eq' && operator !== 'neq'
  const number = Number(value)
  if (isScore && !Number.isFinite(number)) return { error: 'A score is a number.' }
  // A text also equals the number that it spells; only numbers are more or less than numbers.
  const test: EntryTest = { member: isScore ? 'score' : 'value', operator: operator as Operator,
    value: isScore || isOrder && Number.isFinite(number) ? number : value }
  return { value: { kind: 'entry', source, ...named, test } }
}
