/** Finds the root of a project: its own folder, or that of the workspace that it is a part of. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, matchesGlob, relative } from 'node:path'

import { RevisionError } from '../revision-error.ts'
import { readPackage } from './installed-package.ts'

/** Names of the lock files of package managers, the usual ones first. */
export const lockFiles = ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock',
  'bun.lock', 'bun.lockb']

/** The root of a project and what fixes its packages. */
export interface Workspace {
  /** Absolute. All own files are below it. */
  readonly root: string
  /** SHA-256 of the lock file, in hexadecimal digits. */
  readonly lockSha256: string
}

/** Finds the root of the workspace that a folder is in, and its lock file. Throws RevisionError. */
export async function workspaceOf(folder: string): Promise<Workspace> {
  const root = await rootOf(folder)
  // The lock file of a project wins: a folder in the clone of something else is not a part of it.
  for (const place of new Set([folder, root])) {
    for (const name of lockFiles) {
      const text = await readFile(join(place, name)).catch(() => undefined)
      if (text?.length) return { root, lockSha256: createHash('sha256').update(text).digest('hex') }
    }
  }
  throw new RevisionError('no_lock_file', `${root} has no lock file, so nobody knows which ` +
    'versions of its packages to serve: run npm install there, or what you install with.')
}

async function rootOf(folder: string): Promise<string> {
  for (let place = folder;; place = dirname(place)) {
    if (await hasMember(place, folder)) return place
    if (dirname(place) === place) return folder
  }
}

/** True for the root of a workspace that names the folder, which may be the root itself. */
async function hasMember(place: string, folder: string): Promise<boolean> {
  const path = relative(place, folder)
  if (path === '') return false
  const globs = await globsOf(place)
  const isIn = (glob: string) => matchesGlob(path, glob.replace(/^\.\/|\/$/g, ''))
  return globs.some((glob) => !glob.startsWith('!') && isIn(glob))
    && !globs.some((glob) => glob.startsWith('!') && isIn(glob.slice(1)))
}

/** The folders of a workspace: of npm, yarn and bun in package.json, of pnpm in its own file. */
async function globsOf(place: string): Promise<readonly string[]> {
  const { workspaces } = await readPackage(place) ?? {}
  if (workspaces) return workspaces
  const yaml = await readFile(join(place, 'pnpm-workspace.yaml'), 'utf8').catch(() => '')
  const [, list = ''] = /^packages:[ \t]*\n((?:[ \t]*(?:-.*|#.*)?\n?)*)/m.exec(yaml) ?? []
  return [...list.matchAll(/^[ \t]*-[ \t]*(['"]?)([^'"#\n]+?)\1[ \t]*(?:#.*)?$/gm)]
    .map(([, , glob]) => glob!)
}

/** The nearest folder with a package.json, from a folder up to the root; the root without one. */
export async function packageFolderOf(folder: string, root: string): Promise<string> {
  for (let place = folder; place !== root && basename(place) !== ''; place = dirname(place)) {
    if (await readPackage(place)) return place
  }
  return root
}
