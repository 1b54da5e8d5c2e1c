/** JSON containment: whether a document contains a filter. */

/**
 * True if `whole` contains `part`. Objects: every key of `part` is in `whole` and contains its
 * part. Arrays: every element of `part` is contained in some element of `whole`. Anything else:
 * equal.
 */
export function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && containsAll(whole, part)
  if (!isObject(part)) return whole === part
  return isObject(whole) &&
    Object.keys(part).every((key) => Object.hasOwn(whole, key) && contains(whole[key], part[key]))
}

/** Looks scalars of long lists up in a set, and does not compare them one by one. */
function containsAll(whole: readonly unknown[], part: readonly unknown[]): boolean {
  const scalars = new Set(whole)
  return part.every((sought) =>
    typeof sought === 'object' && sought !== null
      ? whole.some((each) => contains(each, sought))
      : scalars.has(sought)
  )
}

/**
 * Counts objects and lists inside lists, with all that they contain. Each of these is compared with
 * every element of another list.
 */
export function nestedInLists(value: unknown, isNested = false): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, each) => {
    const nests = isNested || (Array.isArray(value) && typeof each === 'object' && each !== null)
    return sum + Number(nests) + nestedInLists(each, nests)
  }, 0)
}

/** True for an object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
