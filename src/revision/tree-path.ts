/** Checks the paths and links of an archive. */

import { posix } from 'node:path'

import { RevisionError } from './revision-error.ts'
import { pathBytesMax } from './revision-limits.ts'

/** A control character, half a character, or a separator of folders on other systems. */
const forbidden = /[\p{Cc}\p{Cs}\\]/u

/** Throws unless the path is relative, stays in its tree, and is one on every file system. */
export function requirePath(path: string): void {
  const steps = path.split('/')
  if (path.startsWith('/') || steps.includes('..')) {
    throw new RevisionError('escapes', `The path ${shown(path)} leads out of the tree.`)
  }
  if (forbidden.test(path) || steps.some((step) => step === '' || step === '.')) {
    throw new RevisionError('bad_path', `The path ${shown(path)} is not a plain one.`)
  }
  if (Buffer.byteLength(path) > pathBytesMax) {
    throw new RevisionError('bad_path',
      `The path ${shown(path)} is longer than ${pathBytesMax} bytes.`)
  }
}

/**
 * Throws unless a link at `path` leads to a place in the tree. A target may only go up at its
 * beginning: `a/../b` could leave the tree if `a` is a link.
 */
export function requireLink(path: string, target: string): void {
  const down = target.replace(/^(\.\.\/)+/, '').replace(/^\.\.$/, '')
  const reached = posix.join(posix.dirname(path), target)
  if (target === '' || posix.isAbsolute(target) || down.split('/').includes('..')
    || reached === '..' || reached.startsWith('../')) {
    throw new RevisionError('escapes',
      `The link ${shown(path)} leads out of the tree, to ${shown(target)}.`)
  }
  if (down !== '') requirePath(down)
}

/** Remembers the paths of a tree, and throws at one that some file systems would confuse. */
export class TreePaths {
  /** By the form in which case and composition do not count. */
  readonly #folders = new Map<string, string>()
  readonly #leaves = new Map<string, string>()

  /** Adds a file or a link of an archive whose root is at `place`. */
  add(pathInArchive: string, place = ''): void {
    requirePath(pathInArchive)
    const path = place === '' ? pathInArchive : `${place}/${pathInArchive}`
    const key = keyOf(path)
    const same = this.#leaves.get(key) ?? this.#folders.get(key)
    if (same !== undefined) throw ambiguous(path, same)
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
      this.#addFolder(path.slice(0, end), path)
    }
    this.#leaves.set(key, path)
  }

  #addFolder(folder: string, path: string): void {
    const key = keyOf(folder)
    const leaf = this.#leaves.get(key)
    if (leaf !== undefined) throw ambiguous(path, leaf)
    const known = this.#folders.get(key) ?? folder
    if (known !== folder) throw ambiguous(folder, known)
    this.#folders.set(key, folder)
  }
}

function keyOf(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

function ambiguous(path: string, other: string): RevisionError {
  return new RevisionError('ambiguous_path',
    `The paths ${shown(other)} and ${shown(path)} cannot be beside each other: they are the ` +
      'same, differ in case only, or one is below the other.')
}

/** The path as a message has it: in quotes, and cut to a bounded length. */
function shown(path: string): string {
  return JSON.stringify(path.length > pathBytesMax ? `${path.slice(0, pathBytesMax)}…` : path)
}
