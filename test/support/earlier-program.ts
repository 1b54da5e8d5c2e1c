/** The program of an earlier commit of this repository, if its history is here. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** A checked-out earlier program. */
export interface EarlierProgram {
  /** Where it is checked out. */
  readonly home: string
  remove(): void
}

/**
 * Checks a commit out, to run with the packages of today. Undefined if it is not in the history.
 */
export function earlierProgram(commit: string): EarlierProgram | undefined {
  const home = mkdtempSync(join(tmpdir(), 'heddle-before-'))
  const remove = () => rmSync(home, { recursive: true, force: true })
  try {
    const files = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1 << 30,
      stdio: ['ignore', 'pipe', 'ignore'] })
    execFileSync('tar', ['-x', '-C', home], { input: files })
  } catch {
    remove()
    return undefined
  }
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
  mkdirSync(join(home, 'proto/gen'), { recursive: true })
  execFileSync(process.execPath, ['scripts/generate.mjs'], { cwd: home, stdio: 'ignore' })
  return { home, remove }
}
