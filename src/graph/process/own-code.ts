/** Paths of Heddle's own code and its packages, for processes that may read little else. */

import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = new URL('../../../', import.meta.url)
/** Parts of Heddle's root that a graph process imports. A data directory may lie beside them. */
const parts = ['dist/heddle', 'src', 'cluster', 'proto', 'package.json', 'node_modules']

/** Paths of Heddle's code, and of the folders in which Node looks for its packages. */
export function ownCode(): string[] {
  const own = parts.map((part) => fileURLToPath(new URL(part, root)))
  const packages = createRequire(import.meta.url).resolve.paths('zod') ?? []
  const there = [...own, ...packages].filter((path) => existsSync(path))
  return [...new Set(there.flatMap((path) => [path, realpathSync(path)]))]
}
