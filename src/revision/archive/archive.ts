/** A package archive: the files of one package, or the project's own, as a tar file in chunks. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'

import { limitConcurrency } from '../../../cluster/index.ts'
import { RevisionError } from '../revision-error.ts'
import { chunkBytesMax } from '../revision-limits.ts'
import { headerOf, paddingOf, tarEnd } from './tar-header.ts'
import type { FileEntry, LinkEntry } from './tar-header.ts'
import { requireLink, TreePaths } from '../tree-path.ts'

/** A file of a tree: where its content is, and how to tell whether it has changed. */
export interface FileSource extends FileEntry {
  readonly file: string
  /** Its inode and its times. */
  readonly identity: string
  /** When it was changed last, in any way. */
  readonly changedMs: number
}

/** A file of a tree, or a link. */
export type TreeSource = FileSource | LinkEntry

/** A part of a compressed archive, as it travels. */
export interface Chunk {
  /** In hexadecimal digits. It names the chunk. */
  readonly sha256: string
  readonly data: Buffer
}

/** An archive and all that a manifest says of it. */
export interface Archive {
  /** SHA-256 of the tar file before it was compressed, in hexadecimal digits. */
  readonly hash: string
  /** Of the tar file before it was compressed. */
  readonly bytes: number
  /** Files and links. */
  readonly files: number
  readonly chunks: readonly Chunk[]
}

/** Files that are read at once. */
const readsMax = 16

/**
 * Packs a tree. The same paths, contents and modes give the same bytes, whatever the order and the
 * times of the files. Throws RevisionError.
 */
export async function archiveOf(tree: readonly TreeSource[]): Promise<Archive> {
  const sorted = tree.toSorted((one, other) => compareBytes(one.path, other.path))
  const paths = new TreePaths()
  for (const entry of sorted) {
    paths.add(entry.path)
    if (entry.kind === 'link') requireLink(entry.path, entry.target)
  }
  const parts = await Promise.all(partsOf(sorted))
  const tar = Buffer.concat([...parts.flat(), tarEnd])
  return { hash: sha256(tar), bytes: tar.length, files: sorted.length,
    chunks: chunksOf(await compressed(tar)) }
}

function partsOf(sorted: readonly TreeSource[]): Promise<Buffer[]>[] {
  const limited = limitConcurrency(readsMax)
  return sorted.map((entry) => limited(() => partOf(entry)))
}

async function partOf(entry: TreeSource): Promise<Buffer[]> {
  if (entry.kind === 'link') return [headerOf(entry)]
  const content = await readFile(entry.file)
  if (content.length === entry.bytes) {
    return [headerOf(entry), content, paddingOf(content.length)]
  }
  throw new RevisionError('not_canonical',
    `The file ${entry.path} changes while it is packed: try again.`)
}

/** Frames need no more memory than this to be unpacked: two to the power of it. */
export const windowLog = 23

const compressed = (tar: Buffer): Promise<Buffer> =>
  promisify(zstdCompress)(tar, {
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: windowLog },
  })

function chunksOf(bytes: Buffer): Chunk[] {
  const count = Math.ceil(bytes.length / chunkBytesMax)
  return Array.from({ length: count }, (_, index) => {
    const data = bytes.subarray(index * chunkBytesMax, (index + 1) * chunkBytesMax)
    return { sha256: sha256(data), data }
  })
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Compares texts by their bytes, so that every machine sorts alike, whatever its language. */
function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}
