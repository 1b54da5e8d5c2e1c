// All set-up that a fresh clone needs; run before every npm script, quick when nothing changed.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { findNode24, noNode24, root } from './node24.mjs'

/** What a lock file names, by place; undefined where there is no such file. */
function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(join(root, lockFile), 'utf8')).packages
  } catch {
    return undefined
  }
}

/** Whether node_modules holds what the lock file asks for, packages for other machines aside. */
function isInstalled() {
  const present = packagesOf('node_modules/.package-lock.json')
  const wanted = Object.entries(packagesOf('package-lock.json') ?? {})
  return present !== undefined && wanted.every(([place, { version, optional }]) =>
    place === '' || (present[place] ? present[place].version === version : optional === true))
}

/** Runs `npm ci` by the Node that runs npm: the one in node_modules is about to be replaced. */
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

// The scripts say `exec`, so that signals reach the server and not a shell around it. The shell of
// Windows has no such word and passes no signals: there it means nothing.
if (process.platform === 'win32') writeFileSync(join(root, 'node_modules/.bin/exec.cmd'), '@%*\r\n')

await import('./generate.mjs')
