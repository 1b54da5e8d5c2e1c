/** Which parts of a state were asked for: its fields by name, a value of it as `values.<key>`. */

/** Undefined: everything. */
export type StateSelection = readonly string[] | undefined

type Fields = Readonly<Record<string, unknown>>

const ofValues = 'values.'

/** The keys of the values that are asked for: all of them, or those that are named. */
export function keysAskedFor(select: StateSelection): 'all' | readonly string[] {
  if (!select || select.includes('values')) return 'all'
  return select.filter((name) => name.startsWith(ofValues))
    .map((name) => name.slice(ofValues.length))
}

/** A value that is no object has no keys and is there whole. */
export function selectedValues(values: unknown, select: StateSelection): unknown {
  const keys = keysAskedFor(select)
  if (keys === 'all' || typeof values !== 'object' || values === null) return values
  return Array.isArray(values) ? values : only(values, keys)
}

/** The fields of a state beside its values. */
export function selectedFields(state: Fields, select: StateSelection): Fields {
  return select ? only(state, select) : state
}

function only(fields: object, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))
}
