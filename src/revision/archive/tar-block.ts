/** Block size and text fields of tar files, for all readers of them. Pure. */

import { RevisionError } from '../revision-error.ts'

/** Bytes of a block. A header is one block, and contents fill whole blocks. */
export const blockBytes = 512

/** Bytes that are missing to the end of the last block. */
export function bytesToBlockEnd(bytes: number): number {
  return (blockBytes - bytes % blockBytes) % blockBytes
}

/** The text of a field, up to the first zero byte. Throws `bad_path` if it is not UTF-8. */
export function fieldOf(block: Buffer, at: number, bytes: number): string {
  const field = block.subarray(at, at + bytes)
  const end = field.indexOf(0)
  return textOf(end === -1 ? field : field.subarray(0, end))
}

/** Bytes as UTF-8. Throws `bad_path` if they are not. */
export function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new RevisionError('bad_path', 'The archive has a path that is not UTF-8.', { cause })
  }
}
