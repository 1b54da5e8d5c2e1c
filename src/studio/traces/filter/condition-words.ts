/** A condition in words, as its chip has them. Pure. */

import { momentWords } from '../../parts/times/moment.ts'
import { menuWords, operatorsOf } from './condition-operators.ts'
import type { Condition } from './expression.ts'
import { entryFields, filterFields } from './filter-fields.ts'
import type { Scalar } from './filter-syntax.ts'

/** The words of a condition without its negation. */
export function conditionWords(condition: Condition): string {
  switch (condition.kind) {
    case 'field':
      return fieldWords(condition)
    case 'in':
      return `${menuWords(condition.field)} is one of ${condition.values.map(String).join(', ')}`
    case 'has':
      return condition.field === 'tags'
        ? `Tag is ${condition.value}`
        : `Metadata contains ${condition.value}`
    case 'search':
      return `“${condition.words}” ${operatorsOf('search')[condition.place ?? '']}`
    case 'entry':
      return entryWords(condition)
    case 'code':
      return condition.text
  }
}

function fieldWords({ field, operator, value }: Extract<Condition, { kind: 'field' }>): string {
  const words = menuWords(field)
  const form = filterFields[field]?.form
  if (value === null) return `${words} ${operator === 'eq' ? 'is not set' : 'is set'}`
  if (form === 'flag') {
    return `${words}: ${(operator === 'eq') === value ? 'yes' : 'no'}`
  }
  const known = operatorsOf(field)
  const compared = known[operator] ?? comparisons[operator]
  return `${words} ${compared} ${valueWords(form ?? 'text', value)}`
}

const comparisons: Readonly<Record<string, string>> = { eq: 'is', neq: 'is not', gt: '>', gte: '≥',
  lt: '<', lte: '≤' }

function valueWords(form: string, value: Scalar): string {
  if (form === 'seconds' && typeof value === 'number') return `${value} s`
  if (form === 'dollars') return `$${value}`
  if (form === 'time' && typeof value !== 'boolean' && value !== null) {
    const ms = new Date(value).getTime()
    return Number.isNaN(ms) ? String(value) : momentWords(ms)
  }
  return String(value)
}

function entryWords({ source, key, test }: Extract<Condition, { kind: 'entry' }>): string {
  const { words } = entryFields[source]
  const named = key === undefined ? `Any ${words.toLowerCase()}` : `${words} ${key}`
  if (test === undefined) return `${named} is there`
  return `${named} ${comparisons[test.operator]} ${test.value === null ? 'null' : test.value}`
}
