/**
 * Lists and objects from attributes with dotted keys, such as `0.tool_calls.1.function.name`. All
 * conventions write nested values this way, because an attribute cannot be an object. Pure.
 */

/** Levels of a value. The rest of a longer key, with its dots, is the name on the last level. */
export const levelsMax = 32

/** An index in a key, without leading zeros. A larger number is a name. */
const index = /^(?:0|[1-9]\d{0,5})$/

const numberedKey = /^(.+?)\.((?:0|[1-9]\d{0,5})(?:\.[^]*)?)$/s

/**
 * Names that OpenInference repeats behind an index, in the singular: `tool_calls.0.tool_call.id`.
 * They carry no information.
 */
const wrappers: ReadonlySet<string> = new Set(['message', 'message_content', 'tool_call', 'tool',
  'document', 'embedding', 'prompt', 'completion'])

/** Names of a level that is not finished. Values are no maps. */
type Branch = Map<string, unknown>

/**
 * Splits a key into the part before its first index, and the path from that index on. Returns
 * `undefined` for a key without an index.
 */
export function splitNumbered(key: string): readonly [prefix: string, path: string] | undefined {
  const [, prefix, path] = numberedKey.exec(key) ?? []
  return prefix === undefined ? undefined : [prefix, path!]
}

/** A value that is built from the attributes below one prefix. */
export class NestedValue {
  readonly #root: Branch = new Map()

  /**
   * Adds the value at a path. Returns `false` and changes nothing if another value is there or on
   * the way.
   */
  add(path: string, value: unknown): boolean {
    const names = namesIn(path)
    if (!this.#isFree(names)) return false
    const last = names.pop()!
    let branch = this.#root
    for (const name of names) {
      const next = branch.get(name) as Branch | undefined ?? new Map<string, unknown>()
      branch.set(name, next)
      branch = next
    }
    branch.set(last, value)
    return true
  }

  /** Returns the value. A branch with indices alone is a list, in their order and without gaps. */
  value(): unknown {
    return valueOf(this.#root)
  }

  #isFree(names: readonly string[]): boolean {
    let node: unknown = this.#root
    for (const name of names) {
      if (!(node instanceof Map)) return false
      if (!node.has(name)) return true
      node = node.get(name)
    }
    return false
  }
}

function namesIn(path: string): string[] {
  const names: string[] = []
  for (let from = 0; from <= path.length;) {
    const dot = path.indexOf('.', from)
    const isLast = dot === -1 || names.length === levelsMax - 1
    const name = isLast ? path.slice(from) : path.slice(from, dot)
    from = isLast ? Infinity : dot + 1
    const isWrapper = !isLast && wrappers.has(name) && index.test(names.at(-1) ?? '')
    if (!isWrapper) names.push(name)
  }
  return names
}

/** A name such as `__proto__` becomes a property like any other: no prototype is changed. */
function valueOf(node: unknown): unknown {
  if (!(node instanceof Map)) return node
  const entries = [...node as Branch].map(([name, inner]) => [name, valueOf(inner)] as const)
  return entries.every(([name]) => index.test(name))
    ? entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value)
    : Object.fromEntries(entries)
}
