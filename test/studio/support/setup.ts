/** Builds the Studio before its tests, if anything in it has changed. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Vitest calls it once before the tests. */
export function setup(): void {
  const script = join(import.meta.dirname, '../../../scripts/studio.mjs')
  const { status } = spawnSync(process.execPath, [script], { stdio: 'inherit' })
  if (status !== 0) throw new Error('The Studio could not be built.')
}
