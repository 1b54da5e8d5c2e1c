/** Reads the chunks of an archive as entries, and believes nothing that it has not checked. */

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { constants, createZstdDecompress } from 'node:zlib'

import { memberOf } from '../../json/index.ts'
import type { ManifestArchive } from '../manifest.ts'
import { RevisionError } from '../revision-error.ts'
import { windowLog } from './archive.ts'
import { paddingOf, readHeader } from './tar-header.ts'
import type { FileEntry, LinkEntry } from './tar-header.ts'

/** The bytes of the chunk that is named by this hash. */
export type ReadChunk = (sha256: string) => Promise<Buffer>

/** An entry that was read. Use up the content of a file before the next entry is taken. */
export type ReadEntry = LinkEntry | FileEntry & { readonly content: AsyncIterable<Buffer> }

/**
 * The entries of an archive, in their order. Throws RevisionError as soon as a chunk, the size, the
 * number of entries or the form is wrong; that the hash is wrong shows only after the last entry.
 */
export async function* readArchive(archive: ManifestArchive,
  readChunk: ReadChunk): AsyncGenerator<ReadEntry> {
  const plain = new PlainBytes(archive, readChunk)
  let [before, files] = ['', 0]
  try {
    for (;;) {
      const entry = await readHeader((bytes) => plain.take(bytes))
      if (entry === undefined) break
      if (++files > archive.files) throw tooLarge(archive)
      if (Buffer.compare(Buffer.from(before), Buffer.from(entry.path)) >= 0) {
        throw new RevisionError('not_canonical', 'The entries of the archive are not sorted.')
      }
      before = entry.path
      if (entry.kind === 'link') yield entry
      else yield { ...entry, content: plain.content(entry.bytes) }
    }
    await plain.requireEnd()
    if (files !== archive.files) throw wrongHash(archive)
  } finally {
    plain.close()
  }
}

/** The tar file of an archive, read piece by piece. */
class PlainBytes {
  readonly #archive: ManifestArchive
  readonly #hash = createHash('sha256')
  readonly #pieces: AsyncIterator<Buffer>
  readonly #stream: Readable
  #rest: Buffer = Buffer.alloc(0)
  #read = 0

  constructor(archive: ManifestArchive, readChunk: ReadChunk) {
    this.#archive = archive
    const compressed = Readable.from(chunksOf(archive, readChunk), { objectMode: false })
    const inflate = createZstdDecompress({
      params: { [constants.ZSTD_d_windowLogMax]: windowLog },
    })
    compressed.on('error', (error) => inflate.destroy(error))
    this.#stream = compressed.pipe(inflate)
    this.#pieces = this.#stream[Symbol.asyncIterator]()
  }

  /** Reads exactly this number of bytes. */
  async take(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let missing = bytes; missing > 0;) {
      const part = await this.#next(missing)
      parts.push(part)
      missing -= part.length
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }

  /** The content of a file, and the end of its last block. */
  async *content(bytes: number): AsyncGenerator<Buffer> {
    for (let missing = bytes; missing > 0;) {
      const part = await this.#next(missing)
      missing -= part.length
      yield part
    }
    const padding = await this.take(paddingOf(bytes).length)
    if (padding.some((byte) => byte !== 0)) {
      throw new RevisionError('not_canonical', 'The archive has bytes between two of its files.')
    }
  }

  /** Throws if there are more bytes, or if these were not the declared ones. */
  async requireEnd(): Promise<void> {
    if (await this.#pull()) throw tooLarge(this.#archive)
    if (this.#read !== this.#archive.bytes || this.#hash.digest('hex') !== this.#archive.hash) {
      throw wrongHash(this.#archive)
    }
  }

  close(): void {
    this.#stream.destroy()
  }

  /** Reads at least one byte, and at most this number. */
  async #next(bytes: number): Promise<Buffer> {
    if (this.#rest.length === 0 && !await this.#pull()) throw cutOff(this.#archive)
    const part = this.#rest.subarray(0, bytes)
    this.#rest = this.#rest.subarray(part.length)
    return part
  }

  /** Reads the next piece; false at the end. */
  async #pull(): Promise<boolean> {
    if (this.#rest.length > 0) return true
    const { done, value } = await this.#pieces.next().catch((error: unknown) => {
      throw faultOf(this.#archive, error)
    })
    if (done) return false
    this.#read += value.length
    if (this.#read > this.#archive.bytes) throw tooLarge(this.#archive)
    this.#hash.update(value)
    this.#rest = value
    return true
  }
}

/** The chunks in their order, each checked before it is used. */
async function* chunksOf({ chunks }: ManifestArchive,
  readChunk: ReadChunk): AsyncGenerator<Buffer> {
  for (const { sha256, bytes } of chunks) {
    const data = await readChunk(sha256)
    if (data.length !== bytes || createHash('sha256').update(data).digest('hex') !== sha256) {
      throw new RevisionError('wrong_hash', `The chunk ${sha256} has other bytes than declared.`)
    }
    yield data
  }
}

/** Errors of the store stay as they are. */
function faultOf(archive: ManifestArchive, error: unknown): unknown {
  const code = memberOf(error, 'code')
  if (code === 'ERR_BUFFER_TOO_LARGE' || String(code).startsWith('ZSTD_error')) {
    return new RevisionError('not_canonical', `${nameOf(archive)} is not compressed as it must be.`,
      { cause: error })
  }
  return code === 'Z_BUF_ERROR' || code === 'ERR_STREAM_PREMATURE_CLOSE' ? cutOff(archive) : error
}

function cutOff(archive: ManifestArchive): RevisionError {
  return new RevisionError('cut_off', `${nameOf(archive)} ends early.`)
}

function tooLarge(archive: ManifestArchive): RevisionError {
  return new RevisionError('too_large', `${nameOf(archive)} is larger than declared.`)
}

function wrongHash(archive: ManifestArchive): RevisionError {
  return new RevisionError('wrong_hash', `${nameOf(archive)} is another one than declared.`)
}

function nameOf({ kind, path }: ManifestArchive): string {
  return kind === 'package' ? `The archive of ${path}` : `The archive of ${kind} files`
}
