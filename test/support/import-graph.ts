/** What imports what, and how a rule of the house fails. */

import { expect } from 'vitest'

import type { SourceFile } from './source-tree.ts'

/** Source files by their path. */
export type SourceFiles = ReadonlyMap<string, SourceFile>

/** Fails with the cure and everything that needs it. */
export function expectNone(broken: readonly string[], cure: string): void {
  if (broken.length > 0) expect.fail(`${cure}\n  ${broken.join('\n  ')}`)
}

/** Everything that some files import, directly or not. */
export function reachedFrom(files: SourceFiles, starts: readonly string[]): ReadonlySet<string> {
  const reached = new Set(starts)
  for (const path of reached) {
    for (const { ours, target } of files.get(path)?.imports ?? []) if (ours) reached.add(target)
  }
  return reached
}

/** One line for each circle: the files along it. */
export function circles(files: SourceFiles, some: readonly SourceFile[]): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path)
    if (start >= 0) return void found.push([...trail.slice(start), path].join(' → '))
    if (done.has(path)) return
    for (const { ours, target } of files.get(path)?.imports ?? []) {
      if (ours) visit(target, [...trail, path])
    }
    done.add(path)
  }
  for (const { path } of some) visit(path, [])
  return found
}
