/**
 * Reads a tar file that another program made of a project, and believes nothing that it has not
 * checked. Folders are skipped, as they follow from the files. Entries of other kinds are refused.
 */

import { createGunzip } from 'node:zlib'
import { pipeline, Readable } from 'node:stream'

import { memberOf } from '../../json/index.ts'
import { blockBytes, bytesToBlockEnd, fieldOf, textOf } from '../archive/tar-block.ts'
import { TreePaths } from '../tree-path.ts'
import { isNeverPacked } from '../closure/ignore-rules.ts'
import { RevisionError } from '../revision-error.ts'
import { pathBytesMax } from '../revision-limits.ts'
import type { RevisionLimits } from '../revision-limits.ts'

/** A file of a project. Its content has to be used up before the next one. */
export interface SourceFile {
  readonly path: string
  readonly executable: boolean
  readonly content: AsyncIterable<Buffer>
}

/** Bytes of the records about an entry, beside its header. */
const aboutMax = 64 * 1024
/**
 * Bound on entries, as a multiple of the allowed files: some programs write several entries a file.
 */
const entriesPerFile = 3

/**
 * The files of a gzipped tar file. Files that belong to no revision, such as `.env`, are left out.
 * Throws RevisionError.
 */
export async function* readSourceTar(compressed: AsyncIterable<Uint8Array>,
  limits: Pick<RevisionLimits, 'unpackedBytes' | 'files'>): AsyncGenerator<SourceFile> {
  const bytes = new PlainBytes(compressed, limits.unpackedBytes)
  const paths = new TreePaths()
  let [files, entries] = [0, 0]
  let about: About = {}
  try {
    for (;;) {
      const header = await bytes.take(blockBytes)
      if (header.every((byte) => byte === 0)) return
      if (++entries > limits.files * entriesPerFile) throw tooLarge()
      const said = headerIn(header)
      if (isAbout(said.type)) {
        Object.assign(about, aboutIn(said.type, await aboutText(bytes, said.bytes)))
        continue
      }
      const { path, size } = { path: pathOf(about.path ?? said.path),
        size: about.size ?? said.bytes }
      about = {}
      if (said.type === '5') {
        await bytes.skip(size)
        continue
      }
      if (said.type !== '0' && said.type !== '\0') {
        throw new RevisionError('forbidden_kind', `${JSON.stringify(path)} is neither a file nor ` +
          'a folder.')
      }
      if (path.split('/').some(isNeverPacked)) {
        await bytes.skip(size)
        continue
      }
      paths.add(path)
      if (++files > limits.files) throw tooLarge()
      yield { path, executable: said.executable, content: bytes.content(size) }
    }
  } finally {
    bytes.close()
  }
}

interface About {
  path?: string
  size?: number
}

interface Header {
  readonly path: string
  readonly bytes: number
  readonly type: string
  readonly executable: boolean
}

/** True for pax records of one entry or of all, and for long names of GNU. */
function isAbout(type: string): boolean {
  return ['x', 'g', 'L', 'K'].includes(type)
}

function headerIn(block: Buffer): Header {
  const sum = block.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0)
  if (sum !== numberIn(block, 148, 8)) throw notTar()
  const [name, prefix] = [fieldOf(block, 0, 100),
    fieldOf(block, 257, 6).startsWith('ustar') ? fieldOf(block, 345, 155) : '']
  return { path: prefix === '' ? name : `${prefix}/${name}`, bytes: numberIn(block, 124, 12),
    type: String.fromCharCode(block[156]!), executable: (numberIn(block, 100, 8) & 0o100) !== 0 }
}

async function aboutText(bytes: PlainBytes, size: number): Promise<Buffer> {
  if (size > aboutMax) throw tooLarge()
  const text = await bytes.take(size)
  await bytes.take(bytesToBlockEnd(size))
  return text
}

function aboutIn(type: string, text: Buffer): About {
  if (type === 'K' || type === 'g') return {}
  if (type === 'L') return { path: textOf(text).replace(/\0+$/, '') }
  const about: About = {}
  for (let at = 0; at < text.length;) {
    const [, length] = /^(\d{1,6}) /.exec(text.toString('latin1', at, at + 7)) ?? []
    const end = at + Number(length)
    if (length === undefined || end <= at + length.length || end > text.length) throw notTar()
    const [key = '', ...value] = textOf(text.subarray(at + length.length + 1, end - 1)).split('=')
    if (key === 'path') about.path = value.join('=')
    if (key === 'size') about.size = wholeIn(value.join('='))
    at = end
  }
  return about
}

function wholeIn(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw notTar()
  return Number(text)
}

/** The path without `./` and the like at its beginning. */
function pathOf(said: string): string {
  if (said.length > pathBytesMax * 4) {
    throw new RevisionError('bad_path', `A path of it is longer than ${pathBytesMax} bytes.`)
  }
  return said.replace(/^(\.\/)+/, '').replace(/\/$/, '')
}

function numberIn(block: Buffer, at: number, length: number): number {
  const text = fieldOf(block, at, length).trim()
  if (text === '') return 0
  if (!/^[0-7]{1,12}$/.test(text)) throw notTar()
  return Number.parseInt(text, 8)
}

/** The tar file, piece by piece. */
class PlainBytes {
  readonly #max: number
  readonly #stream: Readable
  readonly #pieces: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)
  #read = 0

  constructor(compressed: AsyncIterable<Uint8Array>, max: number) {
    this.#max = max
    // Errors come out of the stream that is read.
    this.#stream = pipeline(Readable.from(compressed, { objectMode: false }), createGunzip(),
      () => {})
    this.#pieces = this.#stream[Symbol.asyncIterator]()
  }

  async take(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.#parts(bytes)) parts.push(part)
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }

  async skip(bytes: number): Promise<void> {
    for await (const _ of this.content(bytes));
  }

  /** The content of a file, and the end of its last block. */
  async *content(bytes: number): AsyncGenerator<Buffer> {
    if (this.#read + bytes > this.#max) throw tooLarge()
    yield* this.#parts(bytes)
    await this.take(bytesToBlockEnd(bytes))
  }

  close(): void {
    this.#stream.destroy()
  }

  async *#parts(bytes: number): AsyncGenerator<Buffer> {
    for (let missing = bytes; missing > 0;) {
      if (this.#rest.length === 0) this.#rest = await this.#next()
      const part = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(part.length)
      missing -= part.length
      yield part
    }
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#pieces.next().catch((error: unknown) => {
      const code = String(memberOf(error, 'code'))
      if (code === 'Z_BUF_ERROR') throw cutOff()
      throw code.startsWith('Z_') ? notTar() : error
    })
    if (done) throw cutOff()
    this.#read += value.length
    if (this.#read > this.#max) throw tooLarge()
    return value
  }
}

function tooLarge(): RevisionError {
  return new RevisionError('too_large',
    'The files of the project are too many or too large: name ' +
      'in .gitignore or .dockerignore what its graphs do not need.')
}

function notTar(): RevisionError {
  return new RevisionError('not_canonical', 'The files of the project are no gzipped tar file.')
}

function cutOff(): RevisionError {
  return new RevisionError('cut_off', 'The archive of the project ends early.')
}
