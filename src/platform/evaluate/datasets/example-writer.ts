/**
 * Writes versions of datasets. Rows and nodes come first, where nobody finds them; the catalog then
 * publishes the version that has them. If another one was published meanwhile, only the nodes are
 * made again.
 */

import { setImmediate } from 'node:timers/promises'

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Document, DocumentPort } from '../../spans/document-port.ts'
import type { Uuid } from '../../spans/span.ts'
import { ByteCharge } from './byte-charge.ts'
import type { Dataset, Publication } from './dataset.ts'
import { createdOf, resultOf, rowOf, sameSplits } from './edited-example.ts'
import type { Known } from './edited-example.ts'
import { requireFit } from './example-change.ts'
import { eraseDataset, eraseExamples } from './example-erasure.ts'
import type { ExampleEdit, ExampleInput, ExamplesChanged } from './sent/example-edit.ts'
import { removeFiles, storeFiles } from './example-files.ts'
import type { FilesOfEdits } from './example-files.ts'
import { datasetsOf, datasetsWith, examplesOf, membershipKey, nextStamp, placeKey, publishedKey,
  rootKey, rowKey, versionName } from './example-place.ts'
import type { DatasetPlace } from './example-place.ts'
import { changedTree, entryAt, nodeKey } from './example-tree.ts'
import type { ExampleEntry, TreeRoot } from './example-tree.ts'
import { ExampleVersions } from './example-versions.ts'

/** Examples that a dataset may have, also those that were deleted. */
const examplesMax = 1_000_000
/** Bytes that are written with one call. */
const bytesTogether = 4 * 1024 * 1024
/** Bytes of rows that one change reads, or makes: they are in memory together. */
const rowsMax = 128 * 1024 * 1024
/** Tries to publish a version while others are published first; then it fails with `full`. */
const triesMax = 20
/** Bytes that an edit takes besides its row, about. */
const editBytes = 400

/** The catalog of datasets, from the thread that writes. */
export interface DatasetWrites {
  datasets(
    call: { readonly tenant: string; readonly ids: readonly Uuid[] },
  ): Promise<readonly Dataset[]>
  chargeDataset(
    call: { readonly tenant: string; readonly id: Uuid; readonly bytes: number },
  ): Promise<void>
  publishDataset(publication: Publication): Promise<void>
}

/** Dependencies of the writer: the documents, the catalog of datasets and the environment. */
export interface ExampleWriterParts {
  readonly store: DocumentPort
  readonly needs: DatasetWrites
  readonly env: Pick<Env, 'nowMs' | 'uuid' | 'random' | 'after'>
}

/** A change on its way. */
interface Change {
  readonly place: DatasetPlace
  readonly edits: readonly ExampleEdit[]
  readonly charge: ByteCharge
  files: FilesOfEdits
  mayBePublished: boolean
}

/** Writes the examples of all tenants. */
export class ExampleWriter {
  readonly #parts: ExampleWriterParts
  readonly #versions: ExampleVersions
  /** Changes of one dataset come one after the other, as long as they come through here. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(parts: ExampleWriterParts) {
    this.#parts = parts
    this.#versions = new ExampleVersions(parts.store)
  }

  /** Makes one version of all edits, or none if one of them fails. */
  async change(place: DatasetPlace, edits: readonly ExampleEdit[]): Promise<ExamplesChanged> {
    const name = `${place.tenant} ${place.dataset}`
    const before = this.#last.get(name) ?? Promise.resolve()
    const own = this.#changeAfter(before, place, edits)
    this.#last.set(name, own)
    try {
      return await own
    } finally {
      if (this.#last.get(name) === own) this.#last.delete(name)
    }
  }

  /** Throws what `change` would, and writes nothing. Attachments are not looked at. */
  async check(place: DatasetPlace, edits: readonly ExampleEdit[]): Promise<void> {
    requireOnce(edits)
    const dataset = await this.dataset(place)
    const root = await this.#versions.root(place, dataset.head)
    for (const known of await this.#known(place, root, edits)) {
      const content = resultOf(known, [])
      if (!content) continue
      requireFit(dataset, known.edit.id, content.row)
      if (dataset.inputsSchema !== null || dataset.outputsSchema !== null) await setImmediate()
      requireModest(rowOf(known, content).body.byteLength)
    }
  }

  /** The dataset. Throws `not_found`. */
  async dataset({ tenant, dataset }: DatasetPlace): Promise<Dataset> {
    const [found] = await this.#parts.needs.datasets({ tenant, ids: [dataset] })
    if (found !== undefined) return found
    throw new HeddleError('not_found', 'Dataset not found.')
  }

  async #changeAfter(before: Promise<unknown>, place: DatasetPlace,
    edits: readonly ExampleEdit[]): Promise<ExamplesChanged> {
    await Promise.allSettled([before])
    return this.#changeNow(place, edits)
  }

  async #changeNow(place: DatasetPlace, edits: readonly ExampleEdit[]): Promise<ExamplesChanged> {
    requireOnce(edits)
    const charge = new ByteCharge((bytes) => this.#charge(place, bytes))
    try {
      await charge.reserve(edits.reduce((sum, edit) => sum + bytesOf(edit), 0))
      const changed = await this.#withFiles(place, edits, charge)
      const erased = edits.flatMap(({ kind, id }) => kind === 'erase' ? [id] : [])
      charge.removed(await eraseExamples(this.#parts.store, place, erased))
      return changed
    } finally {
      await charge.settle()
    }
  }

  /** Throws `exists` if the example is in another dataset of the tenant. */
  async #requireNowhereElse({ tenant }: DatasetPlace, example: Uuid): Promise<void> {
    const { needs, store } = this.#parts
    const ids = await datasetsWith(store, tenant, example)
    const others = ids.length === 0 ? [] : await needs.datasets({ tenant, ids })
    if (others.length === 0) return
    throw new HeddleError('exists', `Example ${example} is in another dataset: name that one.`)
  }

  /** The files of a change that came to nothing are removed. */
  async #withFiles(place: DatasetPlace, edits: readonly ExampleEdit[],
    charge: ByteCharge): Promise<ExamplesChanged> {
    const change: Change = { place, edits, charge, files: new Map(), mayBePublished: false }
    try {
      const bytes = fileBytesOf(edits)
      if (bytes > 0) await charge.cover(bytes)
      change.files = await storeFiles(this.#parts, place, edits)
      return await this.#published(change)
    } catch (error) {
      if (!change.mayBePublished) await this.#removeFiles(change, change.files)
      if (HeddleError.from(error).code === 'not_found') await this.#eraseIfDeleted(place)
      throw error
    }
  }

  /** Deletes the rows of a change whose dataset was deleted concurrently. */
  async #eraseIfDeleted(place: DatasetPlace): Promise<void> {
    const { needs, store } = this.#parts
    const found = await needs.datasets({ tenant: place.tenant, ids: [place.dataset] })
    if (found.length === 0) await eraseDataset(store, place)
  }

  /** Tries until no other version comes between. */
  async #published(change: Change): Promise<ExamplesChanged> {
    for (let tries = 1;; tries++) {
      try {
        return await this.#attempt(change)
      } catch (error) {
        if (HeddleError.from(error).code !== 'stale') throw error
        if (tries === triesMax) {
          throw new HeddleError('full', 'Too many changes of this dataset at once: try again.', {
            retryAfterSeconds: 1,
          })
        }
        const { random, after } = this.#parts.env
        await new Promise<void>((resolve) => after(random() * 20 * tries, resolve))
      }
    }
  }

  async #attempt(change: Change): Promise<ExamplesChanged> {
    const { place, edits, files } = change
    const { env, needs, store } = this.#parts
    const dataset = await this.dataset(place)
    const root = await this.#versions.root(place, dataset.head)
    const stampUs = nextStamp(dataset.head, env.nowMs())
    const own = env.uuid().slice(-12)
    const version = versionName(stampUs, own)
    const rows: Document[] = []
    const changes = new Map<number, ExampleEntry | null>()
    const [ids, placed]: [Uuid[], Uuid[]] = [[], []]
    // Those of examples that were sent again.
    const spareFiles = new Map(files)
    let { next } = root
    let rowBytes = 0
    for (const known of await this.#known(place, root, edits)) {
      const { edit: { id, kind }, entry, before } = known
      if (kind === 'update' && before === undefined) await this.#requireNowhereElse(place, id)
      const content = resultOf(known, files.get(known.edit) ?? [])
      if (content === undefined) continue
      ids.push(id)
      if (content === null) {
        if (entry !== undefined) changes.set(known.place!, null)
        continue
      }
      const isNewPlace = known.place === undefined || changes.has(known.place)
      const at = isNewPlace ? next++ : known.place!
      requireFit(dataset, id, content.row)
      // To check it may take a while: others have their turn.
      if (dataset.inputsSchema !== null || dataset.outputsSchema !== null) await setImmediate()
      const { body, isNew } = rowOf(known, content)
      rowBytes += body.byteLength
      requireModest(rowBytes)
      if (isNew) spareFiles.delete(known.edit)
      if (isNew) rows.push({ key: rowKey(id, own), body })
      // An update counts as one, also if it says what there is.
      else if (kind !== 'update' && sameSplits(entry!.splits, content.splits)) continue
      changes.set(at, { id, createdUs: createdOf(known, stampUs), modifiedUs: stampUs,
        row: isNew ? own : entry!.row, bytes: body.byteLength, splits: content.splits })
      if (isNewPlace) placed.push(id)
      if (isNewPlace) rows.push({ key: placeKey(id), body: Buffer.from(String(at)) })
    }
    const erases = edits.some(({ kind }) => kind === 'erase')
    if (changes.size === 0 && !erases) {
      await this.#removeFiles(change, spareFiles)
      return { dataset: place.dataset, ids, version: dataset.head }
    }
    if (next > examplesMax) {
      throw new HeddleError('full', `A dataset may have ${examplesMax} examples, with those that ` +
        'were deleted. Make another one.')
    }
    const tree = await changedTree(this.#versions.nodes(place), root, changes, version)
    const { root: { version: _, ...top }, nodes } = tree
    const documents: Document[] = [
      ...rows,
      ...nodes.map(({ place: at, node }) => jsonDocument(nodeKey(at), node)),
      jsonDocument(rootKey(version), { ...top, prev: dataset.head }),
      ...dataset.head === null ? [] : [jsonDocument(publishedKey(dataset.head), 1)],
    ]
    await change.charge.cover(documents.reduce((sum, { body }) => sum + body.byteLength, 0))
    for (const some of inPortions(documents)) await store.putDocuments(examplesOf(place), some)
    await this.#remember(place, placed)
    change.mayBePublished = true
    await needs.publishDataset({ tenant: place.tenant, dataset: place.dataset, after: dataset.head,
      version, count: top.count, erases })
    await this.#removeFiles(change, spareFiles)
    return { dataset: place.dataset, ids, version }
  }

  async #removeFiles({ place, charge }: Change, files: FilesOfEdits): Promise<void> {
    charge.removed(await removeFiles(this.#parts.store, place, files).catch(() => 0))
  }

  /** The examples as the version before has them. */
  async #known(place: DatasetPlace, root: TreeRoot,
    edits: readonly ExampleEdit[]): Promise<readonly Known[]> {
    const places = await this.#versions.places(place, edits.map(({ id }) => id))
    const entries = new Map<Uuid, ExampleEntry>()
    for (const [id, at] of places) {
      const entry = await entryAt(this.#versions.nodes(place), root, at)
      if (entry?.id === id) entries.set(id, entry)
      // A place that was never published may belong to another example by now.
      else if (entry !== undefined || at >= root.next) places.delete(id)
    }
    // What becomes of those that are removed is known without their rows.
    const read = edits.flatMap(({ kind, id }) =>
      kind === 'delete' || kind === 'erase' ? [] : entries.get(id) ?? []
    )
    requireModest(read.reduce((sum, { bytes }) => sum + bytes, 0))
    const rows = await this.#versions.rows(place, read)
    return edits.map((edit) => {
      const [entry, row] = [entries.get(edit.id), rows.get(edit.id)]
      return { edit, place: places.get(edit.id), entry,
        before: entry && row && { row, splits: entry.splits } }
    })
  }

  /** Notes which dataset the examples are in. What was noted in vain harms nobody. */
  async #remember({ tenant, dataset }: DatasetPlace, ids: readonly Uuid[]): Promise<void> {
    const buckets = Map.groupBy(ids, (id) => id.slice(-1))
    await Promise.all(
      [...buckets.values()].map((own) =>
        this.#parts.store.putDocuments(datasetsOf(tenant, own[0]!),
          own.map((id) => ({ key: membershipKey(id, dataset), body: Buffer.from('1') })))
      ),
    )
  }

  async #charge({ tenant, dataset: id }: DatasetPlace, bytes: number): Promise<void> {
    if (bytes !== 0) await this.#parts.needs.chargeDataset({ tenant, id, bytes })
  }
}

function requireOnce(edits: readonly ExampleEdit[]): void {
  const ids = new Set(edits.map(({ id }) => id))
  if (ids.size < edits.length) {
    throw new HeddleError('invalid', 'An example is in this request twice.')
  }
}

function requireModest(bytes: number): void {
  if (bytes <= rowsMax) return
  throw new HeddleError('too_large', `One change may be of ${rowsMax / 1024 / 1024} MiB of ` +
    'examples: change fewer at once.')
}

function bytesOf(edit: ExampleEdit): number {
  if (edit.kind === 'delete' || edit.kind === 'erase') return 0
  const { inputs, outputs, metadata, files = [] }: ExampleInput = edit.kind === 'metadata'
    ? { metadata: { operations: edit.operations } }
    : edit.said
  return editBytes + (inputs?.byteLength ?? 0) + (outputs?.byteLength ?? 0)
    + JSON.stringify(metadata ?? {}).length
    + files.reduce((sum, { data }) => sum + data.byteLength, 0)
}

function fileBytesOf(edits: readonly ExampleEdit[]): number {
  const files = edits.flatMap((edit) => 'said' in edit ? edit.said.files ?? [] : [])
  return files.reduce((sum, { data }) => sum + data.byteLength, 0)
}

function jsonDocument(key: string, value: unknown): Document {
  return { key, body: Buffer.from(JSON.stringify(value)) }
}

function* inPortions(documents: readonly Document[]): Generator<readonly Document[], void, void> {
  let portion: Document[] = []
  let bytes = 0
  for (const document of documents) {
    if (portion.length > 0 && bytes + document.body.byteLength > bytesTogether) {
      yield portion
      portion = []
      bytes = 0
    }
    portion.push(document)
    bytes += document.body.byteLength
  }
  if (portion.length > 0) yield portion
}
