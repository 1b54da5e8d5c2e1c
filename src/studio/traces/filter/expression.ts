/**
 * A filter as a tree of conditions, groups and negations: what the menu edits. Pure. The text and
 * the tree say the same: what was written is read as the same tree.
 */

import { entryFields, entryOf, filterFields, searchPlaces } from './filter-fields.ts'
import type { EntrySource, Operator, SearchPlace } from './filter-fields.ts'
import { readSyntax, writeSyntax } from './filter-syntax.ts'
import type { FilterCall, FilterNode, Read, Scalar } from './filter-syntax.ts'

/** Comparison of the value, or of the score, of an entry. */
export interface EntryTest {
  readonly member: 'value' | 'score'
  readonly operator: Operator
  readonly value: Scalar
}

/** One condition. `code` is valid, but more than the menu has fields for. */
export type Condition =
  | { readonly kind: 'field'; readonly field: string; readonly operator: Operator;
    readonly value: Scalar }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly Scalar[] }
  | { readonly kind: 'has'; readonly field: 'tags' | 'metadata'; readonly value: string }
  /** An entry with the key and the value; without a key any entry, without a test any value. */
  | { readonly kind: 'entry'; readonly source: EntrySource; readonly key?: string;
    readonly test?: EntryTest }
  | { readonly kind: 'search'; readonly place?: SearchPlace; readonly words: string }
  | { readonly kind: 'code'; readonly text: string }

/** Conditions of which all must hold, or one. */
export interface Group {
  readonly kind: 'group'
  readonly join: 'and' | 'or'
  readonly of: readonly Expression[]
}

/** A filter. */
export type Expression = Condition | Group | { readonly kind: 'not'; readonly of: Expression }

const operators: readonly string[] = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte'] satisfies Operator[]

/** Reads the text of a filter. */
export function readExpression(text: string): Read<Expression> {
  const read = readSyntax(text)
  if ('error' in read) return read
  return read.value.kind === 'call'
    ? { value: expressionOf(read.value) }
    : { error: 'A filter is a call such as eq(name, "x").' }
}

/** Writes a filter; undefined for one without conditions. */
export function writeExpression(expression: Expression): string | undefined {
  switch (expression.kind) {
    case 'not': {
      const inner = writeExpression(expression.of)
      return inner === undefined ? undefined : `not(${inner})`
    }
    case 'group': {
      const all = expression.of.flatMap((each) => writeExpression(each) ?? [])
      return all.length < 2 ? all[0] : `${expression.join}(${apart(expression.join, all)})`
    }
    case 'code':
      return expression.text
    default:
      return writeSyntax(nodeOf(expression))
  }
}

/** Halves of entries: in one `and` the server would put a key and a value of two together. */
const halfPattern = /^(?:eq|neq|in|gte?|lte?)\((?:metadata|input|output|feedback)_/

function apart(join: Group['join'], all: readonly string[]): string {
  const isHalf = (text: string) => halfPattern.test(text)
  const isMixed = join === 'and' && all.filter(isHalf).length > 1
  return all.map((text) => isMixed && isHalf(text) ? `and(${text})` : text).join(', ')
}

const call = (name: string, ...values: readonly FilterNode[]): FilterNode => ({ kind: 'call', name,
  values })
const named = (name: string): FilterNode => ({ kind: 'name', name })
const scalar = (value: Scalar): FilterNode => ({ kind: 'scalar', value })

function nodeOf(condition: Exclude<Condition, { kind: 'code' }>): FilterNode {
  switch (condition.kind) {
    case 'field':
      return call(condition.operator, named(condition.field), scalar(condition.value))
    case 'in':
      return call('in', named(condition.field), { kind: 'list',
        values: condition.values.map(scalar) })
    case 'has':
      return call('has', named(condition.field), scalar(condition.value))
    case 'search':
      return condition.place === undefined
        ? call('search', scalar(condition.words))
        : call('search', named(condition.place), scalar(condition.words))
    case 'entry': {
      const { source, key, test } = condition
      const names = entryFields[source]
      const halves = [
        ...key === undefined ? [] : [call('eq', named(names.key), scalar(key))],
        ...test === undefined
          ? []
          : [call(test.operator, named(names[test.member] ?? names.value), scalar(test.value))],
      ]
      return halves.length === 1 ? halves[0]! : call('and', ...halves)
    }
  }
}

function expressionOf(node: FilterCall): Expression {
  const [first, ...more] = node.values
  if (node.name === 'not' && first?.kind === 'call' && more.length === 0) {
    const of = expressionOf(first)
    return of.kind === 'not' ? of.of : { kind: 'not', of }
  }
  return groupOf(node) ?? conditionOf(node) ?? { kind: 'code', text: writeSyntax(node) }
}

function groupOf({ name, values }: FilterCall): Expression | undefined {
  if (name !== 'and' && name !== 'or' || values.length === 0) return undefined
  if (!values.every((value) => value.kind === 'call')) return undefined
  if (name === 'or') return joined('or', values.map(expressionOf))
  const read = values.map((value) => ({ of: expressionOf(value), half: halfOf(value) }))
  const of: Expression[] = []
  for (const each of read) {
    const halves = read.filter(({ half }) => half !== undefined && half === each.half)
    if (each.half === undefined || halves.length === 1) {
      of.push(each.of)
      continue
    }
    const pair = halves.length === 2 ? paired(halves[0]!.of, halves[1]!.of) : undefined
    if (pair === undefined) return undefined
    if (each === halves[0]) of.push(pair)
  }
  return joined('and', of)
}

const joined = (join: Group['join'], of: readonly Expression[]): Expression =>
  of.length === 1 ? of[0]! : { kind: 'group', join, of }

/** The object of which a call compares a key or a value; undefined for other calls. */
function halfOf({ name, values: [field] }: FilterCall): EntrySource | undefined {
  const entry = field?.kind === 'name' ? entryOf(field.name) : undefined
  return entry === undefined || entry.member === 'key' && name === 'neq' ? undefined : entry.source
}

/** A key and a value as one entry, in either order; undefined for two of a kind. */
function paired(one: Expression, other: Expression): Condition | undefined {
  if (one.kind !== 'entry' || other.kind !== 'entry') return undefined
  const key = one.key ?? other.key
  const test = one.test ?? other.test
  return key === undefined || test === undefined
    ? undefined
    : { kind: 'entry', source: one.source, key, test }
}

function conditionOf({ name, values }: FilterCall): Expression | undefined {
  const [first, second] = values
  if (name === 'search') return searchOf(values)
  if (first?.kind !== 'name' || second === undefined || values.length > 2) return undefined
  const entry = entryOf(first.name)
  if (name === 'in') {
    if (entry !== undefined || !Object.hasOwn(filterFields, first.name)) return undefined
    const scalars = second.kind === 'list' ? second.values : undefined
    return scalars?.every((each) => each.kind === 'scalar')
      ? { kind: 'in', field: first.name, values: scalars.map(({ value }) => value) }
      : undefined
  }
  if (second.kind !== 'scalar') return undefined
  const { value } = second
  if (first.name === 'tags') return tagOf(name, value)
  if (name === 'has') {
    return first.name === 'metadata' && typeof value === 'string'
      ? { kind: 'has', field: 'metadata', value }
      : undefined
  }
  if (!operators.includes(name)) return undefined
  const operator = name as Operator
  if (entry !== undefined) return entryHalf(entry, operator, value)
  return Object.hasOwn(filterFields, first.name)
    ? { kind: 'field', field: first.name, operator, value }
    : undefined
}

function searchOf([first, second, ...more]: readonly FilterNode[]): Condition | undefined {
  const words = second ?? first
  if (words?.kind !== 'scalar' || typeof words.value !== 'string' || more.length > 0) {
    return undefined
  }
  if (second === undefined) return { kind: 'search', words: words.value }
  const place = searchPlaces.find((each) => first?.kind === 'name' && each === first.name)
  return place === undefined ? undefined : { kind: 'search', place, words: words.value }
}

function tagOf(name: string, value: Scalar): Expression | undefined {
  if (typeof value !== 'string') return undefined
  const has: Condition = { kind: 'has', field: 'tags', value }
  if (name === 'has' || name === 'eq') return has
  return name === 'neq' ? { kind: 'not', of: has } : undefined
}

function entryHalf({ source, member }: { source: EntrySource; member: 'key' | 'value' | 'score' },
  operator: Operator, value: Scalar): Expression | undefined {
  if (member !== 'key') return { kind: 'entry', source, test: { member, operator, value } }
  if (typeof value !== 'string') return undefined
  const has: Condition = { kind: 'entry', source, key: value }
  if (operator === 'eq') return has
  return operator === 'neq' ? { kind: 'not', of: has } : undefined
}
