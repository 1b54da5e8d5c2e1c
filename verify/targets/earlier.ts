/** The program of an earlier version, between which and this one a server changes. */

import { existsSync } from 'node:fs'

import { earlierProgram } from '../../test/support/earlier-program.ts'
import type { EarlierProgram } from '../../test/support/earlier-program.ts'

/**
 * Opens the checkout in a folder, or checks a commit out. Throws if it is neither a folder nor a
 * commit of this repository.
 */
export function openEarlier(before: string): EarlierProgram {
  if (existsSync(before)) return { home: before, remove: () => undefined }
  const program = earlierProgram(before)
  if (program === undefined) {
    throw new Error(`--before ${before} is neither a folder nor a commit. Specify one of them.`)
  }
  return program
}
