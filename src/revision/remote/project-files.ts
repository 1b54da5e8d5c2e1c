/** Puts the uploaded files of a project into a folder. */

import { chmod, mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { createReadStream } from 'node:fs'
import { dirname, join } from 'node:path'

import { unpack } from '../cache/unpack.ts'
import { isNeverPacked } from '../closure/ignore-rules.ts'
import { RevisionError } from '../revision-error.ts'
import type { RevisionLimits } from '../revision-limits.ts'
import type { SourceForm } from './build-mail.ts'
import { readSourceTar } from './source-tar.ts'

/** Writes the files into `folder`. `from` has what was uploaded. Throws RevisionError. */
export async function writeProject(source: SourceForm, from: string, folder: string,
  limits: RevisionLimits): Promise<void> {
  await mkdir(folder, { recursive: true })
  if (source.kind === 'tar') return await writeTar(from, folder, limits)
  const { archive } = source
  if (archive.bytes > limits.unpackedBytes || archive.files > limits.files) {
    throw new RevisionError('too_large', 'The files of the project are too many or too large.')
  }
  await unpack([archive], folder, (sha256) => readFile(join(from, sha256)))
  await removeNeverPacked(folder)
}

async function writeTar(from: string, folder: string, limits: RevisionLimits): Promise<void> {
  for await (const { path, executable, content } of readSourceTar(createReadStream(from), limits)) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    // It must be new: what is there already was not written by this.
    const handle = await open(file, 'wx', executable ? 0o755 : 0o644)
    try {
      for await (const part of content) await handle.writeFile(part)
    } finally {
      await handle.close()
    }
  }
}

/**
 * Removes packages, secrets and the like: they would count as if they had been installed or typed
 * here.
 */
async function removeNeverPacked(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (isNeverPacked(entry.name)) await rm(path, { recursive: true, force: true })
    else if (entry.isDirectory()) await removeNeverPacked(path)
    else if (entry.isFile()) await chmod(path, 0o644)
  }
}

/** The project's own files of these names. */
export async function filesNamed(folder: string,
  isNamed: (name: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const found = await Promise.all(entries.map(async (entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return isNeverPacked(entry.name) ? [] : await filesNamed(path, isNamed)
    return isNamed(entry.name) ? [path] : []
  }))
  return found.flat()
}
