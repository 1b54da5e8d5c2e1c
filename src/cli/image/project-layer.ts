/** The files of a revision as one layer of a container image. */

import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

import { headerOf, paddingOf, readArchive, tarEnd } from '../../revision/index.ts'
import type { Manifest, ReadChunk } from '../../revision/index.ts'

/** Folder of the project in an image. */
export const projectFolder = 'project'

/** A layer in a file. The hashes are in hexadecimal digits. */
export interface Layer {
  readonly file: string
  /** Of the compressed bytes: it names the layer. */
  readonly sha256: string
  readonly bytes: number
  /** Of the tar file. */
  readonly plainSha256: string
}

/**
 * Writes the layer. The same revision gives the same bytes. Packages lie where they were when it
 * was built, so that nothing but the folder differs from there.
 */
export async function writeLayer(manifest: Manifest, readChunk: ReadChunk,
  file: string): Promise<Layer> {
  const [plain, packed] = [createHash('sha256'), createHash('sha256')]
  let bytes = 0
  async function* hashed(source: AsyncIterable<Buffer>) {
    for await (const piece of source) {
      packed.update(piece)
      bytes += piece.length
      yield piece
    }
  }
  async function* tar() {
    for await (const piece of layerTar(manifest, readChunk)) {
      plain.update(piece)
      yield piece
    }
  }
  await pipeline(tar, createGzip({ level: 6 }), withoutMaker, hashed, createWriteStream(file))
  return { file, bytes, sha256: packed.digest('hex'), plainSha256: plain.digest('hex') }
}

async function* layerTar({ archives }: Manifest, readChunk: ReadChunk): AsyncGenerator<Buffer> {
  for (const archive of archives) {
    const folder = archive.path === '' ? projectFolder : `${projectFolder}/${archive.path}`
    for await (const entry of readArchive(archive, readChunk)) {
      yield headerOf({ ...entry, path: `${folder}/${entry.path}` })
      if (entry.kind === 'link') continue
      yield* entry.content
      yield paddingOf(entry.bytes)
    }
  }
  yield tarEnd
}

/**
 * The bytes with an unknown system in the header of gzip, which otherwise names the one that
 * packed.
 */
async function* withoutMaker(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let at = 0
  const makerAt = 9
  for await (const piece of source) {
    if (at <= makerAt && makerAt < at + piece.length) piece[makerAt - at] = 255
    at += piece.length
    yield piece
  }
}
