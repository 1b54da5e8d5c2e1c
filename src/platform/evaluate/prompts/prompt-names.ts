/** Names of prompts, of commits and of tags: what they may be, and how commits get theirs. Pure. */

import { hash } from 'node:crypto'

import { HeddleError } from '../../../errors.ts'
import type { Uuid } from '../../spans/span.ts'

/** Throws `invalid` if a prompt may not be called so. */
export function requirePromptName(name: string): void {
  if (/^[A-Za-z0-9][\w.-]{0,199}$/.test(name)) return
  throw new HeddleError('invalid', 'The name of a prompt is 1 to 200 letters, digits and any of ' +
    '"-", "_", ".", and begins with a letter or a digit.')
}

/** Throws `invalid` if a tag may not be called so. */
export function requireTagName(name: string): void {
  if (!/^[\w.+-]{1,100}$/.test(name)) {
    throw new HeddleError('invalid', 'A tag of a commit is 1 to 100 letters, digits and any of ' +
      '"-", "_", ".", "+".')
  }
  if (name === 'latest' || isHashLike(name)) {
    throw new HeddleError('invalid', 'A tag of a commit is not "latest", and does not look like ' +
      'the hash of a commit.')
  }
}

/** True for what may be the hash of a commit, or the beginning of one. */
export function isHashLike(text: string): boolean {
  return /^[0-9a-f]{8,64}$/.test(text)
}

/** The hash of a commit: of its parent and of its manifest as it was sent. */
export function commitHash(parent: string | null, digest: string): string {
  return hash('sha256', `${parent ?? ''}\n${digest}`)
}

/** The hash of a manifest. */
export function digestOf(manifest: Uint8Array): string {
  return hash('sha256', manifest)
}

/** Digits of a hash that its id has unchanged at its beginning. */
const idPrefix = 12

/** The id of a commit, a UUID of version 8: the beginning of its hash. */
export function commitId(commit: string): Uuid {
  const at = (from: number, to: number) => commit.slice(from, to)
  return `${at(0, 8)}-${at(8, 12)}-8${at(13, 16)}-8${at(17, 20)}-${at(20, 32)}`
}

/** The beginning of the hashes of all commits that may have this id; undefined if it is no id. */
export function prefixOfId(id: string): string | undefined {
  const digits = id.toLowerCase().replaceAll('-', '')
  return /^[0-9a-f]{32}$/.test(digits) ? digits.slice(0, idPrefix) : undefined
}

/** Digest of 16 hex digits for a caller who likes something; it says nothing of the caller. */
export function likeOf(tenant: string, caller: string): string {
  return hash('sha256', `${tenant}\n${caller}`).slice(0, 16)
}
