/** Setup before all tests: servers run from a bundle of the source as it is now. */

import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

/** Bundles the server, if its source has changed. Vitest calls it once. */
export function setup(): void {
  const bundle = resolve(import.meta.dirname, '../../scripts/bundle.mjs')
  const { status } = spawnSync(process.execPath, [bundle], { stdio: 'inherit' })
  if (status !== 0) throw new Error('The server could not be bundled: see above.')
}
