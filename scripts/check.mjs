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
  ['oxlint', '--deny-warnings', '--quiet'],
  ['dprint', 'check', '--list-different'],
  ['buf', 'lint'],
  ...committed().map((commit) => ['buf', 'breaking', '--against', `.git#ref=${commit}`]),
]

/**
 * The last commit, and the one before it: deployed members and records may be of either. Commits
 * without docs/invariants.md have other names for the same bytes: buf cannot compare them.
 */
function committed() {
  return ['HEAD', 'HEAD~1'].filter((commit) =>
    spawnSync('git', ['cat-file', '-e', `${commit}:docs/invariants.md`], { cwd: root,
      stdio: 'ignore' }).status === 0
  )
}

/** A line for each pinned release of the engine whose functions nobody has read yet. */
function unknownReleases() {
  const lock = readFileSync(join(root, 'test/newest/package-lock.json'), 'utf8')
  return ['@langchain/core', '@langchain/langgraph'].flatMap((name) => {
    const { version } = JSON.parse(lock).packages[`node_modules/${name}`]
    const functions = unknownIn(name, version)
    return functions.length === 0 ? [] : [`${name} ${version} of test/newest is not known to ` +
      `src/graph/engine/known-sources.ts: ${functions.join(', ')}. Graphs on it run slower. Run ` +
      'the suite with it, read what changed, and add its row.']
  })
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
const unknown = unknownReleases()
for (const line of unknown) console.log(`failed ${line}`)
if (unknown.length === 0) console.log('ok     the newest engine is known')
failed ||= unknown.length > 0
process.exitCode = failed ? 1 : 0
