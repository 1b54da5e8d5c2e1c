// The static checks: types, lint, format, whether the protobuf definitions stay compatible, and
// whether the newest release of the engine is known.
// Exits with 1 if one of them fails.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { unknownIn } from '../src/graph/engine/known-sources.ts'
import { root } from './node24.mjs'

const checks = [
  ['tsc', '--noEmit'],
  ['tsc', '--noEmit', '--project', 'src/studio'],
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

/** What is wrong if nobody has read the functions of the pinned release of the engine yet. */
function unknownRelease() {
  const lock = readFileSync(join(root, 'test/newest/package-lock.json'), 'utf8')
  const { version } = JSON.parse(lock).packages['node_modules/@langchain/langgraph']
  const functions = unknownIn(version)
  return functions.length === 0
    ? undefined
    : `@langchain/langgraph ${version} of test/newest is not known to ` +
      `src/graph/engine/known-sources.ts: ${functions.join(', ')}. Graphs on it run without ` +
      'shortcuts. Run the suite with it, read what changed, and add its row.'
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
const unknown = unknownRelease()
console.log(unknown === undefined ? 'ok     the newest engine is known' : `failed ${unknown}`)
failed ||= unknown !== undefined
process.exitCode = failed ? 1 : 0
