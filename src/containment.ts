/** JSON containment: whether a document has all that a filter names. */

/**
 * Objects: every key of `part` is in `whole` and contains its part. Arrays: every element of `part`
 * is contained in some element of `whole`. Anything else: equal.
 */
export function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) &&
      part.every((sought) => whole.some((each) => contains(each, sought)))
  }
  if (!isObject(part)) return whole === part
  return isObject(whole) && Object.keys(part).every((key) =>
    Object.hasOwn(whole, key) && contains(whole[key], part[key]))
}

/** Neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
