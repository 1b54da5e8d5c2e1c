/**
 * Directories: the files of an agent or of a skill. A commit says what changed; its manifest is all
 * files as they are then. It runs in a thread.
 */

import { HeddleError } from '../../../errors.ts'
import { isObject, jsonOf } from '../../../json/index.ts'
import { headerOf } from './commit-body.ts'
import { digestOf } from './prompt-names.ts'
import type { CommitBody } from './prompt.ts'

/** Bounds of a directory: bytes of a file and of all, how many, and characters of a path. */
export const directoryLimits = { fileBytes: 1024 * 1024, bytes: 8 * 1024 * 1024, files: 1_000,
  path: 500 } as const

type Files = Record<string, unknown>

/** The commit of a body, after what was before. Throws `malformed`, `invalid`, `too_large`. */
export function readDirectoryBody(
  { body, before }: { readonly body: Uint8Array; readonly before: Uint8Array | null },
): CommitBody {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const { manifest: place, ...more } = headerOf(bytes, 'files')
  const changes = place && jsonOf('files', bytes.toString('utf8', place.from, place.to))
  if (!isObject(changes)) {
    throw new HeddleError('invalid', 'files: an object of files by their path.')
  }
  const manifest = Buffer.from(JSON.stringify({ files: merged(filesOf(before), changes) }))
  if (manifest.byteLength > directoryLimits.bytes) {
    throw new HeddleError('too_large', `All files may have ${directoryLimits.bytes} bytes.`)
  }
  return { ...more, manifest: Uint8Array.from(manifest), digest: digestOf(manifest), prompt: null }
}

function filesOf(manifest: Uint8Array | null): Files {
  if (manifest === null) return {}
  return (JSON.parse(Buffer.from(manifest).toString()) as { readonly files: Files }).files
}

/** A file that is null is deleted. Paths are sorted, so that the same files are the same bytes. */
function merged(before: Files, changes: Files): Files {
  const files = new Map(Object.entries(before))
  for (const [path, entry] of Object.entries(changes)) {
    if (entry === null) files.delete(path)
    else files.set(path, entryOf(path, entry))
  }
  if (files.size > directoryLimits.files) {
    throw new HeddleError('too_large', `There may be ${directoryLimits.files} files.`)
  }
  return Object.fromEntries([...files].toSorted(([a], [b]) => a < b ? -1 : 1))
}

function entryOf(path: string, entry: unknown): unknown {
  const steps = path.split('/')
  if (path.length > directoryLimits.path || steps.some((step) => ['', '.', '..'].includes(step))) {
    throw new HeddleError('invalid', `files: a path has ${directoryLimits.path} characters at ` +
      'most, and no empty step, "." or "..".')
  }
  const { type, content, repo_handle: handle } = isObject(entry) ? entry : {}
  const isFile = type === 'file' && typeof content === 'string'
  if (!isFile && !((type === 'agent' || type === 'skill') && typeof handle === 'string')) {
    throw new HeddleError('invalid',
      `files: ${JSON.stringify(path)} is a file with a content, or ` +
        'an agent or a skill with a repo_handle.')
  }
  if (Buffer.byteLength(JSON.stringify(entry)) > directoryLimits.fileBytes) {
    throw new HeddleError('too_large', `A file may have ${directoryLimits.fileBytes} bytes.`)
  }
  return entry
}
