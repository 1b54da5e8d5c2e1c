/** Tar files as other programs make them, and as nobody should. */

import { gzipSync } from 'node:zlib'

/** An entry as it is written, whatever sense it makes. */
export interface RawEntry {
  readonly path: string
  readonly text?: string
  readonly type?: string
  readonly link?: string
  readonly mode?: number
  /** Said instead of the true size. */
  readonly bytes?: number
}

/** A tar file. */
export function tarOf(...entries: readonly RawEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(1_024)])
}

/** The same, as it travels. */
export function gzippedTar(...entries: readonly RawEntry[]): Buffer {
  return gzipSync(tarOf(...entries))
}

function blocksOf({ path, text = '', type = '0', link = '', mode = 0o644, bytes }: RawEntry) {
  const content = Buffer.from(text)
  const block = Buffer.alloc(512)
  const put = (value: string, at: number) => block.write(value, at)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  put(path, 0)
  put(octal(mode, 7), 100)
  put(octal(bytes ?? content.length, 11), 124)
  put(' '.repeat(8), 148)
  put(type, 156)
  put(link, 157)
  put('ustar\x0000', 257)
  put(`${octal(block.reduce((sum, byte) => sum + byte, 0), 6)} `, 148)
  return [block, content, Buffer.alloc((512 - content.length % 512) % 512)]
}
