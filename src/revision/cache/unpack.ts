/** Unpacks archives into a folder, read-only, so that nothing of them is outside of it. */

import { open, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { limitConcurrency } from '../../../cluster/index.ts'
import { readArchive } from '../archive/archive-reader.ts'
import type { ReadChunk, ReadEntry } from '../archive/archive-reader.ts'
import type { LinkEntry } from '../archive/tar-header.ts'
import { requireLink, requirePath, TreePaths } from '../tree-path.ts'
import { isPackagePlace } from '../manifest.ts'
import type { ManifestArchive } from '../manifest.ts'
import { RevisionError } from '../revision-error.ts'
import { makeReadable } from './readable-folder.ts'

/** Files that are written at once. */
const writesMax = 16

/** Bytes above which a file is written piece by piece, one file after another. */
const wholeBytesMax = 512 * 1024

/**
 * Unpacks archives into a new folder. All files are on disk when it resolves. Throws RevisionError
 * at the first fault; the folder is then to be removed. Links come last: no file is written through
 * one.
 */
export async function unpack(archives: readonly ManifestArchive[], folder: string,
  readChunk: ReadChunk, signal?: AbortSignal): Promise<void> {
  const tree = new Tree(folder)
  await makeReadable(folder)
  try {
    for (const archive of archives) {
      requirePlace(archive)
      for await (const entry of readArchive(archive, readChunk)) {
        signal?.throwIfAborted()
        requireOwnPlace(archive, entry)
        await tree.add(archive.path, entry)
      }
    }
  } finally {
    await tree.settle()
  }
  await tree.finish()
}

/** Brings the names of a folder's entries to disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Throws unless the place of an archive is in the folder, at a path where its kind may lie. */
function requirePlace({ kind, path }: ManifestArchive): void {
  if (path !== '') requirePath(path)
  if (kind === 'package' ? isPackagePlace(path) : path === '') return
  throw new RevisionError('escapes',
    `The archive of ${kind} files has no place at ${JSON.stringify(path)}.`)
}

/** Throws unless an archive of links has links at places of packages only, away from own files. */
function requireOwnPlace({ kind }: ManifestArchive, entry: ReadEntry): void {
  const isRight = kind !== 'links' || entry.kind === 'link' && isPackagePlace(entry.path)
  if (!isRight) {
    throw new RevisionError('escapes', `The links between packages have ${entry.path} among them.`)
  }
}

/** A folder that is filled. */
class Tree {
  readonly #folder: string
  readonly #paths = new TreePaths()
  readonly #links: LinkEntry[] = []
  readonly #made = new Map<string, Promise<unknown>>()
  readonly #limited = limitConcurrency(writesMax)
  #writes: Promise<void>[] = []
  #failure: { readonly error: unknown } | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Adds an entry of the archive whose files lie at `place`. */
  async add(place: string, entry: ReadEntry): Promise<void> {
    if (this.#failure) throw this.#failure.error
    const path = place === '' ? entry.path : `${place}/${entry.path}`
    // By its own path, as the length of a place is no fault of the file.
    this.#paths.add(entry.path, place)
    if (entry.kind === 'link') {
      requireLink(entry.path, entry.target)
      this.#links.push({ ...entry, path })
      return
    }
    const file = join(this.#folder, path)
    const mode = entry.executable ? 0o555 : 0o444
    if (entry.bytes > wholeBytesMax) return await this.#write(file, mode, entry.content)
    const parts: Buffer[] = []
    for await (const part of entry.content) parts.push(part)
    await this.#room()
    this.#writes.push(this.#limited(() => this.#write(file, mode, parts))
      .catch((error: unknown) => void (this.#failure ??= { error })))
  }

  /** Waits for all writes that have begun. */
  async settle(): Promise<void> {
    await Promise.all(this.#writes)
    this.#writes = []
  }

  /** Makes the links, all files being there, and brings what the folders have to disk. */
  async finish(): Promise<void> {
    if (this.#failure) throw this.#failure.error
    for (const { path, target } of this.#links) {
      const file = join(this.#folder, path)
      await this.#makeFolder(dirname(file))
      await symlink(target, file)
    }
    await Promise.all([...this.#made.keys()].map((each) => this.#limited(() => syncFolder(each))))
  }

  /** Waits now and then for writes, so that read data do not pile up in memory. */
  async #room(): Promise<void> {
    if (this.#writes.length >= 4 * writesMax) await this.settle()
  }

  async #write(file: string, mode: number,
    content: AsyncIterable<Buffer> | Buffer[]): Promise<void> {
    await this.#makeFolder(dirname(file))
    // It must be new: what is there already was not written by this.
    const handle = await open(file, 'wx', mode)
    try {
      // The umask may have taken something away.
      await handle.chmod(mode)
      for await (const part of content) await handle.writeFile(part)
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  #makeFolder(folder: string): Promise<unknown> {
    const made = this.#made.get(folder) ?? makeReadable(folder)
    this.#made.set(folder, made)
    return made
  }
}
