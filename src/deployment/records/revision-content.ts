/** The documents of revisions: manifests, what they refer to, and chunks. */

import { hash } from 'node:crypto'

import { HeddleError } from '../../errors.ts'
import type { Document, DocumentPort } from '../../platform/index.ts'
import type { Manifest, ReadChunk } from '../../revision/index.ts'
import { copiesIn, copiesText, copyKey } from './chunk-copies.ts'
import type { ChunkCopies, ChunkCopy } from './chunk-copies.ts'
import { chunkPlace, manifestPlace } from './record-places.ts'

/** Content of a revision, which never changes. */
export interface RevisionContent {
  readonly manifest: Manifest
  readonly copies: ChunkCopies
}

/** Contents that a member remembers. */
const remembered = 8
/** Characters of a manifest. It is one document, and the API reads as many. */
const manifestCharacters = 1024 * 1024
/** Copies that are deleted together. */
const deletedTogether = 100

/** Body of a mark for a present chunk. It is written after the chunk, and deleted before it. */
const mark = Buffer.from('1')

/** Reads and writes the documents of all deployments. All methods throw HeddleError. */
export class RevisionContents {
  readonly #documents: DocumentPort
  readonly #known = new Map<string, RevisionContent>()

  constructor(documents: DocumentPort) {
    this.#documents = documents
  }

  /** Stores the content of a revision, whose name no other process knows yet. `too_large`. */
  async put(deployment: string, content: string,
    { manifest, copies }: RevisionContent): Promise<void> {
    const text = JSON.stringify(manifest)
    if (text.length > manifestCharacters) {
      throw new HeddleError('too_large', `The manifest has ${text.length} characters, and the ` +
        `limit is ${manifestCharacters}.`)
    }
    await this.#documents.putDocuments(manifestPlace(deployment), [
      { key: `manifest/${content}`, body: Buffer.from(text) },
      { key: `copies/${content}`, body: Buffer.from(copiesText(copies)) },
    ])
  }

  /** Content of a revision; undefined if it was removed. */
  async get(deployment: string, content: string): Promise<RevisionContent | undefined> {
    const known = this.#known.get(content)
    if (known !== undefined) return known
    const keys = [`manifest/${content}`, `copies/${content}`]
    const found = await this.#documents.getDocuments(manifestPlace(deployment), keys)
    const [manifest, copies] = keys.map((key) => textOf(found.find((each) => each.key === key)))
    if (manifest === undefined || copies === undefined) return undefined
    const read = { manifest: JSON.parse(manifest) as Manifest, copies: copiesIn(copies) }
    this.#known.set(content, read)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= remembered) break
      this.#known.delete(oldest)
    }
    return read
  }

  /** Copies of chunks that a revision refers to; undefined if it was removed. */
  async copies(deployment: string, content: string): Promise<ChunkCopies | undefined> {
    const known = this.#known.get(content)
    if (known !== undefined) return known.copies
    const [found] = await this.#documents.getDocuments(manifestPlace(deployment), [
      `copies/${content}`,
    ])
    const text = textOf(found)
    return text === undefined ? undefined : copiesIn(text)
  }

  async drop(deployment: string, content: string): Promise<void> {
    this.#known.delete(content)
    await this.#documents.deleteDocuments(manifestPlace(deployment), [`manifest/${content}`,
      `copies/${content}`])
  }

  /** The chunks that are not there, by SHA-256. */
  async missing(deployment: string, copies: ChunkCopies): Promise<readonly string[]> {
    const keys = [...copies].map(([sha256, copy]) => markKey(sha256, copy))
    const found = new Set<string>()
    for (let at = 0; at < keys.length; at += 1_000) {
      const marks = await this.#documents.getDocuments(manifestPlace(deployment),
        keys.slice(at, at + 1_000))
      for (const { key } of marks) found.add(key)
    }
    return [...copies].filter(([sha256, copy]) => !found.has(markKey(sha256, copy)))
      .map(([sha256]) => sha256)
  }

  /** Durable when it resolves. */
  async putChunk(deployment: string, sha256: string, copy: ChunkCopy,
    data: Uint8Array): Promise<void> {
    await this.#documents.putDocuments(chunkPlace(deployment), [{ key: copyKey(sha256, copy),
      body: data }])
    await this.#documents.putDocuments(manifestPlace(deployment), [{ key: markKey(sha256, copy),
      body: mark }])
  }

  async deleteChunks(deployment: string,
    copies: readonly (readonly [sha256: string, copy: Pick<ChunkCopy, 'number'>])[]) {
    for (let at = 0; at < copies.length; at += deletedTogether) {
      const some = copies.slice(at, at + deletedTogether)
      await this.#documents.deleteDocuments(manifestPlace(deployment), some.map(([sha256, copy]) =>
        markKey(sha256, copy)
      ))
      await this.#documents.deleteDocuments(chunkPlace(deployment), some.map(([sha256, copy]) =>
        copyKey(sha256, copy)
      ))
    }
  }

  /** Reads a chunk from the first of its copies that has the right bytes. */
  readChunks(deployment: string): ReadChunk {
    return async (sha256) => {
      let isUntrue = false
      for (let after = `${sha256}/`;;) {
        const [found] = await this.#documents.listDocuments(chunkPlace(deployment), { after,
          before: `${sha256}0`, limit: 1 })
        if (found === undefined) throw isUntrue ? untrue(sha256) : absent(sha256)
        const data = Buffer.from(found.body.buffer, found.body.byteOffset, found.body.byteLength)
        if (hash('sha256', data) === sha256) return data
        isUntrue = true
        after = found.key
      }
    }
  }

  /** Removes all of a deployment. */
  async dropAll(deployment: string): Promise<void> {
    this.#known.clear()
    await this.#documents.dropDocuments(manifestPlace(deployment))
    await this.#documents.dropDocuments(chunkPlace(deployment))
  }
}

function markKey(sha256: string, copy: Pick<ChunkCopy, 'number'>): string {
  return `chunk/${copyKey(sha256, copy)}`
}

function textOf(document: Document | undefined): string | undefined {
  return document && Buffer.from(document.body).toString()
}

function absent(sha256: string): HeddleError {
  return new HeddleError('not_found', `The chunk ${sha256} is not there: upload it again.`)
}

function untrue(sha256: string): HeddleError {
  return new HeddleError('not_found', `The chunk ${sha256} is stored with other bytes than its ` +
    'hash says: remove the revision and deploy it again.')
}
