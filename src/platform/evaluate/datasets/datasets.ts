/** The datasets of tenants with their examples, for the main thread. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { DocumentPort } from '../../spans/document-port.ts'
import type { PendingRemovals } from '../../records/catalog/pending-removals.ts'
import type { Downloads } from '../../records/downloads/link-secrets.ts'
import type { Uuid } from '../../spans/span.ts'
import type { Calls } from '../../calls/calls.ts'
import type { Dataset, DatasetCatalog } from './dataset.ts'
import type { ExampleWrites, ExamplesCall } from './example-calls.ts'
import type { ExamplesChanged } from './sent/example-edit.ts'
import { partsOfFile } from './example-files.ts'
import type { ExampleFilter } from './example-filter.ts'
import type { ExampleMark } from './example-question.ts'
import type { ExampleReads, ExamplesSlice } from './example-reader.ts'
import type { LineForm } from './example-lines.ts'
import type { ShownMembers } from './example-shape.ts'

/** An example that somebody adds. Texts are JSON. */
export interface NewExample {
  readonly id?: Uuid
  readonly inputsJson: string
  readonly outputsJson?: string | null
  readonly metadataJson?: string | null
  readonly splits?: readonly string[]
  /** With `copies`, inputs and outputs are those of the run. */
  readonly sourceRun?: { readonly id: Uuid; readonly copies?: boolean }
}

/** Selects the examples to read: those that meet the filter, in their order. */
export interface ExamplesRequest extends ExampleFilter {
  /** A time or a tag. */
  readonly asOf?: string
  readonly ids?: readonly Uuid[]
  readonly limit: number
  readonly offset?: number
  readonly after?: ExampleMark
  readonly newestFirst?: boolean
  readonly shown?: ShownMembers
  /** Prefix of the links to attachments; by default there is none. */
  readonly linkBase?: string
  /** Texts are lines of a file; by default they are JSON. */
  readonly lines?: LineForm
}

/** The datasets. All methods throw HeddleError; `not_found` for what does not exist. */
export interface Datasets extends Omit<DatasetCatalog, 'charge' | 'publish'> {
  /** The dataset. */
  one(tenant: string, id: Uuid): Promise<Dataset>
  /** One version with all of them. Sent again with the same ids and content, nothing changes. */
  addExamples(tenant: string, dataset: Uuid,
    examples: readonly NewExample[]): Promise<readonly Uuid[]>
  /** A request, whose body moves to the thread that reads it. */
  change(call: ExamplesCall): Promise<readonly ExamplesChanged[]>
  /** Slices of JSON texts, as clients know examples. */
  examples(tenant: string, dataset: Uuid | Dataset,
    options: ExamplesRequest): AsyncGenerator<ExamplesSlice, void, void>
  /** An example with the dataset that it is in. */
  example(tenant: string, id: Uuid,
    options: Pick<ExamplesRequest, 'asOf' | 'linkBase'>): Promise<string>
  /** The parts of an attachment, from what a link says of it. */
  file(tenant: string, dataset: Uuid, example: Uuid,
    file: { readonly key: string; readonly bytes: number }): AsyncIterable<Uint8Array>
}

/** Dependencies of datasets. The getters give the threads that run at the time of a call. */
export interface DatasetParts {
  readonly catalog: DatasetCatalog
  readonly threads: { readonly ingest: Calls<ExampleWrites>; readonly query: Calls<ExampleReads> }
  readonly documents: DocumentPort
  readonly downloads: Downloads
  readonly removals: Pick<PendingRemovals, 'remove'>
  readonly env: Pick<Env, 'uuid'>
}

const everything: ShownMembers = { outputs: true, metadata: true, files: true }

/** The datasets over a catalog and the threads of a platform. */
export function datasetsOver(
  { catalog, threads, documents, downloads, removals, env }: DatasetParts,
): Datasets {
  const { charge: _charge, publish: _publish, ...records } = catalog
  const one = async (tenant: string, id: Uuid) => {
    const [found] = await catalog.get(tenant, [id])
    if (found !== undefined) return found
    throw new HeddleError('not_found', 'Dataset not found.')
  }
  async function* examples(tenant: string, dataset: Uuid | Dataset,
    { asOf, limit, offset = 0, after, newestFirst = false, shown = everything, linkBase,
      ...options }: ExamplesRequest): AsyncGenerator<ExamplesSlice, void, void> {
    const asked = typeof dataset === 'string' ? await one(tenant, dataset) : dataset
    const links = { ...await downloads.linkKey(), ...linkBase !== undefined && { base: linkBase } }
    let from: ExampleMark | undefined = after ?? { at: 0, skip: offset }
    let left = limit
    while (from !== undefined && left > 0) {
      const slice: ExamplesSlice = await threads.query.examples({ ...options, tenant,
        dataset: asked, ...asOf !== undefined && { asOf }, from, limit: left, newestFirst, shown,
        links })
      if (slice.texts.length > 0) yield slice
      left -= slice.texts.length
      from = slice.next
    }
  }
  return {
    ...records,
    one,
    examples,
    delete: (tenant, id) => removals.remove('dataset', tenant, id),
    addExamples: async (tenant, dataset, added) => {
      const { ids } = await threads.ingest.addExamples({ tenant, dataset,
        examples: added.map((each) => ({ id: each.id ?? env.uuid(), said: saidOf(each) })) })
      return ids
    },
    change: (call) => threads.ingest.changeExamples(call, { transfer: transferOf(call.body) }),
    example: async (tenant, id, asked) => {
      const ids = await threads.query.datasetsOfExample({ tenant, id })
      for (const dataset of await catalog.get(tenant, ids)) {
        const options = { ...asked, ids: [id], limit: 1 }
        for await (const { texts: [text] } of examples(tenant, dataset, options)) return text!
      }
      throw new HeddleError('not_found', 'Example not found.')
    },
    file: (tenant, dataset, example, file) =>
      partsOfFile(documents, { tenant, dataset }, example, file),
  }
}

/** Buffers that may move to a thread: the array's own, if nothing else is in it. */
export function transferOf({ buffer, byteLength }: Uint8Array): readonly ArrayBuffer[] {
  return byteLength > 0 && byteLength === buffer.byteLength ? [buffer as ArrayBuffer] : []
}

function saidOf({ inputsJson, outputsJson, metadataJson, splits, sourceRun }: NewExample) {
  return {
    ...sourceRun?.copies !== true && { inputs: Buffer.from(inputsJson) },
    ...sourceRun?.copies !== true && typeof outputsJson === 'string' &&
      { outputs: Buffer.from(outputsJson) },
    ...typeof metadataJson === 'string' &&
      { metadata: JSON.parse(metadataJson) as Record<string, unknown> },
    ...splits && { splits },
    ...sourceRun && { sourceRun: sourceRun.id, usesRun: sourceRun.copies ?? false },
  }
}
