/**
 * The copies of chunks that a revision refers to. A copy is named by its hash and by the number of
 * the revision that brought it. A new revision refers to copies that a revision which is kept
 * refers to; all others it brings itself. So a copy that nothing refers to any more is never used
 * again, whenever it is deleted. Pure.
 */

import type { Manifest } from '../../revision/index.ts'
import { isObject } from '../../json/index.ts'

/** The copy of a chunk. */
export interface ChunkCopy {
  /** The number of the revision that brought it. */
  readonly number: number
  readonly bytes: number
}

/** The copies of a revision, by SHA-256. */
export type ChunkCopies = ReadonlyMap<string, ChunkCopy>

/** The key of the documents of a copy. */
export function copyKey(sha256: string, { number }: Pick<ChunkCopy, 'number'>): string {
  return `${sha256}/${number}`
}

/** The chunks that a manifest names, and their bytes. */
export function chunksOf({ archives }: Manifest): ReadonlyMap<string, number> {
  return new Map(
    archives.flatMap(({ chunks }) => chunks.map(({ sha256, bytes }) => [sha256, bytes] as const)),
  )
}

/** The copies of a new revision: those that others have, and its own. */
export async function copiesFor(manifest: Manifest, number: number,
  others: AsyncIterable<ChunkCopies>): Promise<ChunkCopies> {
  const chunks = chunksOf(manifest)
  const copies = new Map<string, ChunkCopy>()
  for await (const other of others) {
    for (const sha256 of chunks.keys()) {
      const copy = other.get(sha256)
      if (copy !== undefined && !copies.has(sha256)) copies.set(sha256, copy)
    }
    if (copies.size === chunks.size) break
  }
  for (const [sha256, bytes] of chunks) {
    if (!copies.has(sha256)) copies.set(sha256, { number, bytes })
  }
  return copies
}

/** Bytes of the copies that a revision brings itself. */
export function bytesBrought(copies: ChunkCopies, number: number): number {
  return [...copies.values()].filter((copy) => copy.number === number)
    .reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The copies as they are stored: by number, then by hash. */
export function copiesText(copies: ChunkCopies): string {
  const byNumber: Record<string, Record<string, number>> = {}
  for (const [sha256, { number, bytes }] of copies) {
    const one = byNumber[number] ??= {}
    one[sha256] = bytes
  }
  return JSON.stringify(byNumber)
}

/** Reads copies from the text in which they are stored. */
export function copiesIn(text: string): ChunkCopies {
  const stored: unknown = JSON.parse(text)
  const copies = new Map<string, ChunkCopy>()
  for (const [number, chunks] of Object.entries(isObject(stored) ? stored : {})) {
    for (const [sha256, bytes] of Object.entries(isObject(chunks) ? chunks : {})) {
      copies.set(sha256, { number: Number(number), bytes: Number(bytes) })
    }
  }
  return copies
}
