// The static checks: types, lint, format, and whether the protobuf definitions stay compatible.
// Exits with 1 if one of them fails.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { root } from './node24.mjs'

const checks = [
  ['tsc', '--noEmit'],
  ['oxlint', '--deny-warnings', '--quiet'],
  ['dprint', 'check', '--list-different'],
  ['buf', 'lint'],
  ...committed().map((commit) => ['buf', 'breaking', '--against', `.git#ref=${commit}`]),
]

/**
 * The last commit, and the one before it, as deployed members and records may be of either. Commits
 * without docs/invariants.md have other names for the same bytes, which buf cannot compare.
 */
function committed() {
  return ['HEAD', 'HEAD~1'].filter((commit) =>
    spawnSync('git', ['cat-file', '-e', `${commit}:docs/invariants.md`], { cwd: root,
      stdio: 'ignore' }).status === 0
  )
}

let failed = false
for (const [tool, ...args] of checks) {
  const started = performance.now()
  const { status } = spawnSync(join(root, 'node_modules/.bin', tool), args, { cwd: root,
    stdio: 'inherit' })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${status === 0 ? 'ok    ' : 'failed'} ${tool} ${args.join(' ')} (${seconds} s)`)
  failed ||= status !== 0
}
process.exitCode = failed ? 1 : 0
