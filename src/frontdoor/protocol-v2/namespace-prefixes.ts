/**
 * The namespaces that a filter names, as a tree by their segments: an event is looked up in it, and
 * not compared with each of them. Pure.
 */

/** A namespace that begins like one of the filter's. */
interface Branch {
  /** The filter has it as a whole. */
  ends: boolean
  next?: Map<string, Branch>
}

/** Tells which namespaces begin with one of the prefixes and go at most `depth` levels on. */
export function prefixTest(prefixes: readonly (readonly string[])[],
  depth: number): (namespace: readonly string[]) => boolean {
  const root: Branch = { ends: false }
  for (const prefix of prefixes) {
    let branch = root
    for (const segment of prefix) branch = branchOf(branch, segment)
    branch.ends = true
  }
  return (namespace) => isUnder(root, namespace, 0, depth)
}

function branchOf(branch: Branch, segment: string): Branch {
  const next = branch.next ??= new Map<string, Branch>()
  const known = next.get(segment)
  if (known) return known
  const made = { ends: false }
  next.set(segment, made)
  return made
}

/** A segment without a colon also matches `name:<suffix>`: the suffix differs in each run. */
function isUnder({ ends, next }: Branch, namespace: readonly string[], at: number,
  depth: number): boolean {
  if (ends && namespace.length - at <= depth) return true
  const segment = namespace[at]
  if (segment === undefined || next === undefined) return false
  const colon = segment.indexOf(':')
  const names = colon >= 0 ? [segment, segment.slice(0, colon)] : [segment]
  return names.some((name) => {
    const branch = next.get(name)
    return branch !== undefined && isUnder(branch, namespace, at + 1, depth)
  })
}
