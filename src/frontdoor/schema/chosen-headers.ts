/** Headers that a project chooses, by names and patterns. Pure. */

import type { HeaderChoice } from '../../graph/index.ts'

/**
 * True if a header is chosen: what is excluded is not, and then it must be included. Without
 * patterns that include, `usual` decides.
 */
export function chosen(name: string, { includes, excludes = [] }: HeaderChoice,
  usual: (name: string) => boolean): boolean {
  if (excludes.some((pattern) => fits(name, pattern))) return false
  return includes === undefined ? usual(name) : includes.some((pattern) => fits(name, pattern))
}

/** True if a name is as a pattern says, in which `*` stands for any characters. */
function fits(name: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  if (others.length === 0) return name === first
  const last = others.pop()!
  if (name.length < first.length + last.length) return false
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  const end = name.length - last.length
  let at = first.length
  for (const part of others) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
