/** The tests that a change reaches: those that import what was changed, the nearest first. */

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize, relative } from 'node:path/posix'
import { resolve } from 'node:path'

const ownRoot = resolve(import.meta.dirname, '..')

/** Seconds that the chosen files may take together, one after another. */
const mostS = 60

/** What a file takes that no earlier run of the suite has measured. */
const usualS = 1

/** Steps to tests of the same folder: they are nearer than what is imported through two files. */
const sameFolder = 1.5

/** A file in the report of vitest. */
interface FileReport {
  readonly name: string
  readonly startTime: number
  readonly endTime: number
}

const specifiers = /(?:from|import|new URL)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

/** Paths that differ from a commit, also those that git does not know yet. */
function changedSince(commit: string): readonly string[] {
  const git = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: ownRoot, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr.trim())
    return stdout.split('\n').filter(Boolean)
  }
  return [...git('diff', '--name-only', commit),
    ...git('ls-files', '--others', '--exclude-standard')]
}

/** For each file, the files that import it, or start it in another thread or process. */
function importers(root: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  for (const path of globSync('{cluster,scripts,src,test}/**/*.{ts,tsx,mjs}', { cwd: root })) {
    if (path.includes('node_modules/')) continue
    for (const [, specifier] of readFileSync(join(root, path), 'utf8').matchAll(specifiers)) {
      const target = normalize(join(dirname(path), specifier!))
      found.set(target, [...found.get(target) ?? [], path])
    }
  }
  return found
}

/** Seconds of each file in the last run of the suite. */
function knownCosts(root: string): ReadonlyMap<string, number> {
  try {
    const { testResults } = JSON.parse(
      readFileSync(join(root, 'test-report.json'), 'utf8'),
    ) as { readonly testResults: readonly FileReport[] }
    return new Map(
      testResults.map((
        { name, startTime, endTime },
      ) => [relative(root, name), (endTime - startTime) / 1000]),
    )
  } catch {
    return new Map()
  }
}

const stem = (path: string) => basename(path).replace(/\..*$/, '')

/** Steps from each test to the change: 0 if it was changed, or has the name of a changed file. */
function distances(changed: readonly string[],
  root: string): readonly (readonly [string, number])[] {
  const importedBy = importers(root)
  const steps = new Map(changed.map((path) => [path, 0]))
  for (const [path, step] of steps) {
    for (const each of importedBy.get(path) ?? []) if (!steps.has(each)) steps.set(each, step + 1)
  }
  const code = changed.filter((path) => /^(src|cluster)\//.test(path))
  const stems = new Set(code.map(stem))
  const folders = new Set(code.map((path) => `test/unit/${dirname(path).replace(/^src\//, '')}`))
  const folderNames = new Set(code.map((path) => basename(dirname(path))))
  // Tests of a whole server import nothing of it: they are found by the name of what they ask.
  for (const path of globSync('test/{conformance,e2e,unit}/**/*.test.ts', { cwd: root })) {
    if (stems.has(stem(path))) steps.set(path, 0)
    else if (folders.has(dirname(path)) || folderNames.has(stem(path))) {
      steps.set(path, Math.min(steps.get(path) ?? sameFolder, sameFolder))
    }
  }
  return [...steps].filter(([path]) => path.endsWith('.test.ts'))
}

/** Tests by their paths, the nearest first. */
export interface ReachedTests {
  /** Those that run. */
  readonly tests: readonly string[]
  /** Those that are reached beside them. */
  readonly others: readonly string[]
}

/** Finds the tests near to what differs from a commit. Throws if git does not know the commit. */
export function reachedTests(commit: string): ReachedTests {
  return testsReachedBy(changedSince(commit))
}

/** Finds the tests near to changed files of a checkout, of this one by default. */
export function testsReachedBy(changed: readonly string[], root = ownRoot): ReachedTests {
  const costs = knownCosts(root)
  const reached = distances(changed, root).toSorted(([, a], [, b]) => a - b)
  let seconds = 0
  const [tests, others]: [string[], string[]] = [[], []]
  for (const [path, step] of reached) {
    const costS = costs.get(path) ?? usualS
    const isNear = step <= 1 || seconds + costS <= mostS
    if (isNear) seconds += costS
    ;(isNear ? tests : others).push(path)
  }
  return { tests, others }
}
