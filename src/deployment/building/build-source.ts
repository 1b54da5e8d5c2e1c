/**
 * Uploaded files of a build, as documents of its revision. They are deleted when the build ends.
 */

import { createHash } from 'node:crypto'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { HeddleError } from '../../errors.ts'
import type { DocumentPort } from '../../platform/index.ts'
import type { SourceForm } from '../../revision/index.ts'
import { sourcePlace } from '../records/record-places.ts'

/** Bytes of a document. */
const pieceBytes = 4 * 1024 * 1024
/** Bytes of a file that is uploaded whole. */
const uploadBytesMax = 200 * 1024 * 1024

/** Stores a chunk of an archive. `invalid` if it is not one of them. */
export async function putSourceChunk(documents: DocumentPort, id: string, source: SourceForm,
  sha256: string, data: Uint8Array): Promise<void> {
  const named = source.kind === 'archive'
    ? source.archive.chunks.find((chunk) => chunk.sha256 === sha256)
    : undefined
  if (named === undefined) {
    throw new HeddleError('not_found', `The files of the build have no chunk ${sha256}.`)
  }
  const isRight = data.byteLength === named.bytes
    && createHash('sha256').update(data).digest('hex') === sha256
  if (!isRight) {
    throw new HeddleError('invalid', `These bytes are not those of the chunk ${sha256}: send it ` +
      'again.')
  }
  await documents.putDocuments(sourcePlace(id), [{ key: `chunk/${sha256}`, body: data }])
}

/** Stores a file, piece by piece. `too_large`; nothing counts unless it resolves. */
export async function putSourceFile(documents: DocumentPort, id: string,
  content: AsyncIterable<Uint8Array>): Promise<void> {
  let [parts, bytes, all, count]: [Uint8Array[], number, number, number] = [[], 0, 0, 0]
  const put = async () => {
    const key = `piece/${String(count++).padStart(6, '0')}`
    await documents.putDocuments(sourcePlace(id), [{ key, body: Buffer.concat(parts) }])
    parts = []
    bytes = 0
  }
  for await (const part of content) {
    all += part.length
    if (all > uploadBytesMax) {
      throw new HeddleError('too_large',
        `The archive has more than ${uploadBytesMax} bytes: name ` +
          'in .gitignore or .dockerignore what its graphs do not need.')
    }
    parts.push(part)
    bytes += part.length
    if (bytes >= pieceBytes) await put()
  }
  if (bytes > 0 || count === 0) await put()
}

/** The chunks that were not uploaded, by SHA-256. */
export async function missingSource(documents: DocumentPort, id: string,
  source: SourceForm): Promise<readonly string[]> {
  if (source.kind === 'tar') return []
  const there = new Set<string>()
  for await (const { key } of listed(documents, id, 'chunk/')) there.add(key)
  return source.archive.chunks.map(({ sha256 }) => sha256)
    .filter((sha256) => !there.has(`chunk/${sha256}`))
}

/** Writes the uploaded files to a folder, in the form that a build takes. */
export async function fetchSource(documents: DocumentPort, id: string, source: SourceForm,
  to: string): Promise<void> {
  if (source.kind === 'archive') {
    await mkdir(to)
    for await (const { key, body } of listed(documents, id, 'chunk/')) {
      await writeFile(join(to, key.slice('chunk/'.length)), body)
    }
    return
  }
  const handle = await open(to, 'wx')
  try {
    for await (const { body } of listed(documents, id, 'piece/')) await handle.writeFile(body)
  } finally {
    await handle.close()
  }
}

async function* listed(documents: DocumentPort, id: string, prefix: string) {
  for (let after = prefix;;) {
    const page = await documents.listDocuments(sourcePlace(id), { after,
      before: `${prefix.slice(0, -1)}0`, limit: 4 })
    yield* page
    const last = page.at(-1)
    if (last === undefined) return
    after = last.key
  }
}
