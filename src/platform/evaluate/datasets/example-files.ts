/** Attachments of examples: how they are kept in parts, and read again. */

import { hash } from 'node:crypto'

import type { Env } from '../../../../cluster/index.ts'
import type { DocumentPort } from '../../spans/document-port.ts'
import type { Uuid } from '../../spans/span.ts'
import type { ExampleEdit } from './sent/example-edit.ts'
import { fileKey, filesOf } from './example-place.ts'
import type { DatasetPlace } from './example-place.ts'
import type { ExampleFile } from './example-row.ts'

/** Attachments that came with edits, where they are kept by now. */
export type FilesOfEdits = ReadonlyMap<ExampleEdit, readonly ExampleFile[]>

/** Bytes of a part. */
const partBytes = 1024 * 1024

/** Keeps the attachments of edits, where no version has them yet. */
export async function storeFiles(
  { store, env }: { readonly store: Pick<DocumentPort, 'putDocuments'>;
    readonly env: Pick<Env, 'uuid'> },
  place: DatasetPlace,
  edits: readonly ExampleEdit[],
): Promise<FilesOfEdits> {
  const stored = new Map<ExampleEdit, ExampleFile[]>()
  for (const edit of edits) {
    const sent = edit.kind === 'create' || edit.kind === 'update' ? edit.said.files ?? [] : []
    for (const { name, type, data } of sent) {
      // Whether it is the same file as another one is seen by its key.
      const key = `${env.uuid().slice(-12)}-${hash('sha256', data).slice(0, 32)}`
      for (let part = 0; part * partBytes < data.byteLength; part++) {
        const body = data.subarray(part * partBytes, (part + 1) * partBytes)
        await store.putDocuments(filesOf(place), [{ key: fileKey(edit.id, key, part), body }])
      }
      const own = stored.get(edit) ?? []
      own.push({ name, type, bytes: data.byteLength, key })
      stored.set(edit, own)
    }
  }
  return stored
}

/** Removes what `storeFiles` kept. Returns how many bytes that were. */
export async function removeFiles(store: Pick<DocumentPort, 'deleteDocuments'>, place: DatasetPlace,
  stored: FilesOfEdits): Promise<number> {
  let removed = 0
  for (const [{ id }, files] of stored) {
    for (const { key, bytes } of files) {
      const parts = Array.from({ length: Math.ceil(bytes / partBytes) }, (_, part) => part)
      await store.deleteDocuments(filesOf(place), parts.map((part) => fileKey(id, key, part)))
      removed += bytes
    }
  }
  return removed
}

/** The parts of an attachment. Those of one that was erased are missing. */
export async function* partsOfFile(store: Pick<DocumentPort, 'getDocuments'>, place: DatasetPlace,
  example: Uuid,
  { key, bytes }: Pick<ExampleFile, 'key' | 'bytes'>): AsyncGenerator<Uint8Array, void, void> {
  for (let part = 0; part * partBytes < bytes; part++) {
    const [found] = await store.getDocuments(filesOf(place), [fileKey(example, key, part)])
    if (found === undefined) return
    yield found.body
  }
}
