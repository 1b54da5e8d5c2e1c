/** Changes of a filter at a place of its tree. Pure. A place is the way down through the groups. */

import type { Condition, Expression, Group } from './expression.ts'

/** Numbers of children, from the outermost group on. */
export type Path = readonly number[]

/** The join of the conditions of a group: `nand` and `nor` are negated groups. */
export type Join = 'and' | 'or' | 'nand' | 'nor'

/** A group as people see it: its negation is a part of its word. */
export interface SeenGroup {
  readonly join: Join
  readonly of: readonly Expression[]
}

/** A condition as people see it, with its negation. */
export interface SeenCondition {
  readonly isNegated: boolean
  readonly condition: Condition
}

const negatedJoin = { and: 'nand', or: 'nor' } as const

/** The group that an expression is; undefined for a condition. */
export function groupIn(expression: Expression): SeenGroup | undefined {
  if (expression.kind === 'group') return { join: expression.join, of: expression.of }
  return expression.kind === 'not' && expression.of.kind === 'group'
    ? { join: negatedJoin[expression.of.join], of: expression.of.of }
    : undefined
}

/** The condition that an expression is; undefined for a group. */
export function conditionIn(expression: Expression): SeenCondition | undefined {
  const isNegated = expression.kind === 'not'
  const inner = isNegated ? expression.of : expression
  return inner.kind === 'not' || inner.kind === 'group'
    ? undefined
    : { isNegated, condition: inner }
}

/** The expression of a group as people see it. */
export function groupOf({ join, of }: SeenGroup): Expression {
  const group = (plain: Group['join']): Group => ({ kind: 'group', join: plain, of })
  if (join === 'and' || join === 'or') return group(join)
  return { kind: 'not', of: group(join === 'nand' ? 'and' : 'or') }
}

/** The expression as a group: one condition becomes the only one of a group. */
export const asGroup = (expression: Expression | undefined): SeenGroup =>
  expression === undefined
    ? { join: 'and', of: [] }
    : groupIn(expression) ?? { join: 'and', of: [expression] }

/** The tree with another expression at a place; undefined removes what is there. */
export function changedAt(group: SeenGroup, [first, ...rest]: Path,
  next: Expression | undefined): SeenGroup {
  const of = group.of.flatMap((child, at) => {
    if (at !== first) return [child]
    if (rest.length === 0) return next ?? []
    const inner = groupIn(child)
    return inner === undefined ? [child] : [groupOf(changedAt(inner, rest, next))]
  })
  return { ...group, of }
}

/** The tree with one more expression in the group at a place. */
export function addedAt(group: SeenGroup, path: Path, more: Expression): SeenGroup {
  const [first, ...rest] = path
  if (first === undefined) return { ...group, of: [...group.of, more] }
  return { ...group, of: group.of.map((child, at) => {
    const inner = at === first ? groupIn(child) : undefined
    return inner === undefined ? child : groupOf(addedAt(inner, rest, more))
  }) }
}

/** The expression at a place; undefined if there is none. */
export function expressionAt(group: SeenGroup, [first, ...rest]: Path): Expression | undefined {
  const child = first === undefined ? groupOf(group) : group.of[first]
  if (child === undefined || first === undefined || rest.length === 0) return child
  const inner = groupIn(child)
  return inner && expressionAt(inner, rest)
}

/** The status that all results must have; undefined if the filter does not say one. */
export function statusIn({ join, of }: SeenGroup): string | undefined {
  const found = join === 'and' ? of.find(isStatus) : undefined
  return found?.kind === 'field' ? String(found.value) : undefined
}

/** The tree with a status that all results must have, or with none. */
export function withStatus(group: SeenGroup, status: string | undefined): SeenGroup {
  const isAnd = group.join === 'and' || group.of.length === 0
  const others = isAnd ? group.of.filter((each) => !isStatus(each)) : [groupOf(group)]
  return { join: 'and', of: status === undefined
    ? others
    : [...others, { kind: 'field', field: 'status', operator: 'eq', value: status }] }
}

const isStatus = (each: Expression) =>
  each.kind === 'field' && each.field === 'status' && each.operator === 'eq'
