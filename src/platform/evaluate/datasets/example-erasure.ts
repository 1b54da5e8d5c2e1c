/** Removes examples from all versions, and what is left of deleted datasets. */

import type { DocumentPlace, DocumentPort } from '../../spans/document-port.ts'
import type { Uuid } from '../../spans/span.ts'
import { beginningWith, datasetsOf, examplesOf, fileKey, filesOf, membershipKey, placeKey,
  rowKey } from './example-place.ts'
import type { DatasetPlace } from './example-place.ts'

type Documents = Pick<DocumentPort, 'deleteDocuments' | 'dropDocuments' | 'listDocuments'>

/** Documents that are removed together: the rows may be long. */
const removedTogether = 50
const placesTogether = 1_000

/** Removes all rows and attachments of examples. Returns how many bytes they had. */
export async function eraseExamples(store: Documents, place: DatasetPlace,
  ids: readonly Uuid[]): Promise<number> {
  let bytes = 0
  for (const id of ids) {
    bytes += await removeAll(store, examplesOf(place), rowKey(id))
    bytes += await removeAll(store, filesOf(place), fileKey(id))
    // Last: as long as it has a place, it can be erased again.
    await store.deleteDocuments(examplesOf(place), [placeKey(id)])
    await store.deleteDocuments(datasetsOf(place.tenant, id), [membershipKey(id, place.dataset)])
  }
  return bytes
}

/** Removes all that a dataset had. It was deleted before. */
export async function eraseDataset(store: Documents, place: DatasetPlace): Promise<void> {
  const all = beginningWith(placeKey(''))
  for (let after = all.after;;) {
    const found = await store.listDocuments(examplesOf(place), { ...all, after,
      limit: placesTogether })
    for (const { key } of found) {
      const id = key.slice(all.after.length)
      await store.deleteDocuments(datasetsOf(place.tenant, id), [membershipKey(id, place.dataset)])
    }
    const last = found.at(-1)
    if (last === undefined) break
    after = last.key
  }
  await store.dropDocuments(filesOf(place))
  await store.dropDocuments(examplesOf(place))
}

async function removeAll(store: Documents, place: DocumentPlace, prefix: string): Promise<number> {
  let bytes = 0
  for (;;) {
    const found = await store.listDocuments(place, { ...beginningWith(prefix),
      limit: removedTogether })
    if (found.length === 0) return bytes
    await store.deleteDocuments(place, found.map(({ key }) => key))
    bytes += found.reduce((sum, { body }) => sum + body.byteLength, 0)
  }
}
