/** Which parts of a state a request selects: fields by name, single values as `values.<key>`. */

/** The selected parts; undefined for everything. */
export type StateSelection = readonly string[] | undefined

type Fields = Readonly<Record<string, unknown>>

const ofValues = 'values.'

/** The keys of the selected values, or `all`. */
export function keysAskedFor(select: StateSelection): 'all' | readonly string[] {
  if (!select || select.includes('values')) return 'all'
  return select.filter((name) => name.startsWith(ofValues))
    .map((name) => name.slice(ofValues.length))
}

/** The selected values. A value that is not an object has no keys and is returned whole. */
export function selectedValues(values: unknown, select: StateSelection): unknown {
  const keys = keysAskedFor(select)
  if (keys === 'all' || typeof values !== 'object' || values === null) return values
  return Array.isArray(values) ? values : only(values, keys)
}

/** The selected fields of a state, apart from its values. */
export function selectedFields(state: Fields, select: StateSelection): Fields {
  return select ? only(state, select) : state
}

function only(fields: object, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))
}
