/** Finds out whether the JSON text of a value is too long, without making a text of that length. */

/** True if the JSON text of `value` is longer than `max` characters. Stops looking at `max`. */
export function isLongJson(value: unknown, max: number): boolean {
  return leftOf(value, max) < 0 || JSON.stringify(value).length > max
}

/** Characters of `max` that are left, at most. Escapes in texts are not counted. */
function leftOf(value: unknown, max: number): number {
  if (typeof value === 'string') return max - value.length - 2
  if (typeof value !== 'object' || value === null) return max - 1
  let left = max - 2
  if (Array.isArray(value)) {
    for (const each of value) {
      left = leftOf(each, left)
      if (left < 0) return left
    }
    return left
  }
  for (const key in value) {
    left = leftOf((value as Readonly<Record<string, unknown>>)[key], left - key.length - 3)
    if (left < 0) return left
  }
  return left
}
