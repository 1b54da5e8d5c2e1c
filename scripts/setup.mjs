// Sets up a fresh clone; runs before every npm script, and is quick if nothing changed.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { findNode24, noNode24, root } from './node24.mjs'

/** The packages of a lock file, by path; undefined if there is no such file. */
function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(join(root, lockFile), 'utf8')).packages
  } catch {
    return undefined
  }
}

/** True if node_modules has all packages of the lock file, except those for other platforms. */
function isInstalled() {
  const present = packagesOf('node_modules/.package-lock.json')
  const wanted = Object.entries(packagesOf('package-lock.json') ?? {})
  return present !== undefined &&
    wanted.every(([place, { version, optional }]) =>
      place === '' || (present[place] ? present[place].version === version : optional === true)
    )
}

/** Runs `npm ci` on the Node that runs npm, as the one in node_modules is about to be replaced. */
function install() {
  console.log('Heddle: installing packages (once; a minute or less) …')
  const npm = process.env.npm_execpath
  const [program, ...before] = npm ? [process.env.npm_node_execpath, npm] : ['npm']
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--engine-strict=false']
  const args = [...before, 'ci', '--include=dev', '--include=optional', ...quiet]
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' })
  if (status === 0) return
  console.error(error ? `npm cannot be started: ${error.message}` : 'npm ci failed, see above.')
  process.exit(1)
}

if (!isInstalled()) install()

const node = findNode24()
if (node === undefined || spawnSync(node, ['--version']).status !== 0) {
  console.error(noNode24())
  process.exit(1)
}

// The npm scripts use `exec`, so that signals reach the server and not a shell around it. Windows
// has no `exec`, nor such signals: there a command of that name just runs its arguments.
if (process.platform === 'win32') writeFileSync(join(root, 'node_modules/.bin/exec.cmd'), '@%*\r\n')

await import('./generate.mjs')
await import('./bundle.mjs')
await import('./studio.mjs')
