/** One order for the members of objects, for JSON that is compared or hashed. */

/** A replacer of `JSON.stringify` that writes the members of each object sorted by their names. */
export function sortedMembers(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
