// A hash of files, by which a script sees whether what it makes of them is still the same.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './node24.mjs'

/** A hash of the names and the contents of files, as paths below the root in any order. */
export function fileHash(paths) {
  const hash = createHash('sha256')
  for (const path of paths.toSorted()) hash.update(path).update(readFileSync(join(root, path)))
  return hash.digest('hex')
}
