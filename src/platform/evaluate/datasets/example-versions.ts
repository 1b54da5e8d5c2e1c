/** The versions of datasets: which there are, and their trees. For both threads. */

import { LRUCache } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { DocumentPort } from '../../spans/document-port.ts'
import type { Uuid } from '../../spans/span.ts'
import { beginningWith, examplesOf, placeKey, publishedKey, rootKey, rowKey,
  stampOf } from './example-place.ts'
import type { DatasetPlace } from './example-place.ts'
import { openRow } from './example-row.ts'
import type { ExampleRow } from './example-row.ts'
import { emptyTree, nodeKey } from './example-tree.ts'
import type { ExampleEntry, NodeReader, TreeNode, TreeRoot } from './example-tree.ts'

/** Characters of nodes that are kept. */
const keptCharacters = 16 * 1024 * 1024
/** Rows that are read with one question. */
const rowsTogether = 100

/** Reads versions from the documents of a store. */
export class ExampleVersions {
  readonly #store: Pick<DocumentPort, 'getDocuments' | 'listDocuments'>
  /** Nodes never change, so those that were read may be kept. */
  readonly #nodes = new LRUCache<string, TreeNode>({ maxSize: keptCharacters })

  constructor(store: Pick<DocumentPort, 'getDocuments' | 'listDocuments'>) {
    this.#store = store
  }

  /** The root of a version. Null is the one before the first example. */
  async root(place: DatasetPlace, version: string | null): Promise<TreeRoot> {
    if (version === null) return { ...emptyTree, version: '' }
    const body = await this.#get(place, rootKey(version))
    return { ...JSON.parse(body) as Omit<TreeRoot, 'version'>, version }
  }

  /** Reads the nodes of a dataset. */
  nodes(place: DatasetPlace): NodeReader {
    return async (node) => {
      const key = nodeKey(node)
      const name = `${place.tenant} ${place.dataset} ${key}`
      const known = this.#nodes.get(name)
      if (known !== undefined) return known
      const text = await this.#get(place, key)
      const read = JSON.parse(text) as TreeNode
      this.#nodes.set(name, read, { size: text.length + 1 })
      return read
    }
  }

  /** The newest version that is not newer than a time; null if there is none. */
  async versionAt(place: DatasetPlace, head: string | null, us: number): Promise<string | null> {
    if (head === null || stampOf(head) <= us) return head
    const [version] = await this.published(place, head, { limit: 1, beforeUs: us + 1 })
    return version ?? null
  }

  /** Versions that were published, the newest first. */
  async published(place: DatasetPlace, head: string | null,
    { limit, beforeUs = Infinity }: { readonly limit: number;
      readonly beforeUs?: number }): Promise<readonly string[]> {
    if (head === null) return []
    const isWanted = stampOf(head) < beforeUs
    const all = beginningWith(publishedKey(''))
    // Of a version that is newer than the head, nothing counts yet.
    const before = publishedKey(
      isWanted ? head : String(Math.max(0, beforeUs)).padStart(17, '0'),
    )
    const documents = await this.#store.listDocuments(examplesOf(place), { ...all, before,
      reverse: true, limit })
    const older = documents.map(({ key }) => key.slice(publishedKey('').length))
    return (isWanted ? [head, ...older] : older).slice(0, limit)
  }

  /** The places of examples; those that never were in the dataset are missing. */
  async places(place: DatasetPlace, ids: readonly Uuid[]): Promise<Map<Uuid, number>> {
    const found = await this.#store.getDocuments(examplesOf(place), ids.map(placeKey))
    const from = placeKey('').length
    return new Map(
      found.map(({ key, body }) => [key.slice(from), Number(Buffer.from(body).toString())]),
    )
  }

  /** The rows of examples by their ids; those that were erased are missing. */
  async rows(place: DatasetPlace,
    entries: readonly ExampleEntry[]): Promise<ReadonlyMap<Uuid, ExampleRow>> {
    const rows = new Map<Uuid, ExampleRow>()
    const from = rowKey('').length - 1
    for (let at = 0; at < entries.length; at += rowsTogether) {
      const keys = entries.slice(at, at + rowsTogether).map(({ id, row }) => rowKey(id, row))
      for (const { key, body } of await this.#store.getDocuments(examplesOf(place), keys)) {
        rows.set(key.slice(from, from + 36), openRow(body))
      }
    }
    return rows
  }

  async #get(place: DatasetPlace, key: string): Promise<string> {
    const [found] = await this.#store.getDocuments(examplesOf(place), [key])
    if (found !== undefined) return Buffer.from(found.body).toString()
    // The dataset was deleted meanwhile.
    throw new HeddleError('not_found', 'Dataset not found.')
  }
}
