/** Finds the commit of a folder, for the manifest of its revision. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import type { Manifest } from './manifest.ts'

/** Milliseconds for Git, which may read a slow disk. A build goes on without its answer. */
const gitMs = 10_000

/** The commit and the branch; nulls where there is no git, or no repository. */
export async function sourceOf(folder: string): Promise<Manifest['source']> {
  const git = async (...args: readonly string[]) => {
    const { stdout } = await promisify(execFile)('git', ['-C', folder, ...args], { timeout: gitMs,
      windowsHide: true })
    return stdout.trim()
  }
  try {
    const commit = await git('rev-parse', 'HEAD')
    const branch = await git('rev-parse', '--abbrev-ref', 'HEAD')
    return { commit, branch: branch === 'HEAD' ? null : branch.slice(0, 1_000),
      dirty: await git('status', '--porcelain', '--', '.') !== '' }
  } catch {
    return { commit: null, branch: null, dirty: false }
  }
}
