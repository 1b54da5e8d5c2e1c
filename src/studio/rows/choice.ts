/** Rows of a list that are chosen: single ones, or all that match. Pure. */

/** Ids of the chosen rows, or all that match the filter of the address. */
export type Choice = ReadonlySet<string> | 'all'

/** True if the choice has a row. */
export const hasRow = (choice: Choice | undefined, id: string): boolean =>
  choice === 'all' || (choice?.has(id) ?? false)

/** The choice with a row more, or without it. Of all that match, only that row is left. */
export function toggled(choice: Choice | undefined, id: string): ReadonlySet<string> {
  const next = new Set(choice === 'all' ? [] : choice)
  if (!next.delete(id)) next.add(id)
  return next
}

/** The choice with all rows from one to another, in either direction. */
export function withRange(choice: Choice | undefined, ids: readonly string[], from: number,
  to: number): ReadonlySet<string> {
  const range = ids.slice(Math.min(from, to), Math.max(from, to) + 1)
  return new Set([...choice === 'all' ? [] : choice ?? [], ...range])
}
