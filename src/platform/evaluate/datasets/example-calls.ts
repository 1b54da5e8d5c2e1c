/** Calls by which the ingest thread reads bodies with examples and writes them. */

import { HeddleError } from '../../../errors.ts'
import { namedId } from '../../records/catalog/named-id.ts'
import { payloadsIn } from '../../query/payload/payloads.ts'
import type { SpanStore } from '../../spans/span-port.ts'
import type { Uuid } from '../../spans/span.ts'
import { examplesIn, idsIn, metadataChangeIn, readable } from './example-body.ts'
import type { SentExample } from './example-body.ts'
import { eraseDataset } from './example-erasure.ts'
import type { ExampleEdit, ExampleInput, ExamplesChanged } from './sent/example-edit.ts'
import { examplesInParts } from './example-multipart.ts'
import { beginningWith, datasetsOf, membershipKey } from './example-place.ts'
import type { DatasetPlace } from './example-place.ts'
import { ExampleWriter } from './example-writer.ts'
import { checkedJson } from './example-shape.ts'
import type { ExampleWriterParts } from './example-writer.ts'
import type { BodyJob, LongBodies } from '../../calls/long-bodies.ts'
import { examplesInUpload } from './sent/upload.ts'
import type { UploadForm } from './sent/upload.ts'

/** Bytes that one request may copy from runs: they are in memory together. */
const copiedMax = 64 * 1024 * 1024

/** A request that changes examples, as it arrived. */
export interface ExamplesCall {
  readonly tenant: string
  /** Kind of the body: `metadata`, `remove` and `erase` name examples, all others hold them. */
  readonly form: 'create' | 'update' | 'createParts' | 'updateParts' | 'metadata' | 'remove'
    | 'erase'
  /** Without it, examples name their dataset, or have one. */
  readonly dataset?: Uuid
  /** The example that the path names. */
  readonly id?: Uuid
  readonly body: Uint8Array
  readonly contentType: string
}

/** Calls to the ingest thread that check, write and remove examples of datasets. */
export interface ExampleWrites {
  /** One version for each dataset. Durable and readable when it resolves. */
  changeExamples(call: ExamplesCall): Promise<readonly ExamplesChanged[]>
  /** The examples in a body as JSON texts. Throws what making them would throw. */
  validateExamples(
    call: Pick<ExamplesCall, 'tenant' | 'body' | 'contentType'>,
  ): Promise<readonly string[]>
  addExamples(
    call: { readonly tenant: string; readonly dataset: Uuid;
      readonly examples: readonly { readonly id: Uuid; readonly said: ExampleInput }[] },
  ): Promise<ExamplesChanged>
  /** Makes those that are missing. `exists` if one has other inputs, or other outputs than said. */
  ensureExamples(
    call: DatasetPlace & {
      readonly examples: readonly { readonly id: Uuid; readonly said: ExampleInput }[]
    },
  ): Promise<ExamplesChanged>
  /** Reads the form without its file; `addUpload` writes the examples. */
  readUpload(
    call: { readonly tenant: string; readonly body: Uint8Array; readonly contentType: string },
  ): Promise<UploadForm>
  /** Sent again for the same dataset, nothing is there twice. */
  addUpload(
    call: DatasetPlace & { readonly body: Uint8Array; readonly contentType: string },
  ): Promise<ExamplesChanged>
  /** Removes what a deleted dataset had. */
  dropExamples(place: DatasetPlace): Promise<void>
}

/** A long body with examples, for a thread that reads it. */
export type ExamplesJob =
  & BodyJob
  & (
    | { readonly kind: 'examples' }
    | { readonly kind: 'exampleParts'; readonly contentType: string }
    | { readonly kind: 'upload'; readonly contentType: string; readonly formOnly: boolean }
  )

/** Dependencies of the calls that write examples, besides those of `ExampleWriter`. */
export interface ExampleWritesParts extends ExampleWriterParts {
  readonly longBodies: LongBodies<ExamplesJob>
  readonly store: SpanStore
  /** The projects with these ids. */
  readonly projectIds: (tenant: string, ids: readonly Uuid[]) => Promise<readonly Uuid[]>
}

/** The handlers over a store. */
export function exampleWrites(parts: ExampleWritesParts): ExampleWrites {
  const { store, longBodies } = parts
  const writer = new ExampleWriter(parts)
  const create = async (place: DatasetPlace, sent: readonly SentExample[]) =>
    writer.change(place, await creationsOf(parts, place.tenant, sent))
  return {
    changeExamples: async (call) => {
      const changed: ExamplesChanged[] = []
      for (const [dataset, edits] of await editsIn(parts, call)) {
        changed.push(await writer.change({ tenant: call.tenant, dataset }, await edits()))
      }
      return changed
    },
    validateExamples: async (call) => {
      const { tenant } = call
      const sent = await sentIn(longBodies, call, false)
      const edits = await creationsOf(parts, tenant, sent)
      const placed = edits.map((edit, index) => ({ edit,
        dataset: sent[index]!.dataset ?? noDataset() })
      )
      for (const [dataset, own] of Map.groupBy(placed, (each) => each.dataset)) {
        await writer.check({ tenant, dataset }, own.map(({ edit }) => edit))
      }
      return placed.map(({ edit, dataset }, index) =>
        checkedJson(dataset, sent[index]!.id, edit.said)
      )
    },
    addExamples: ({ tenant, dataset, examples }) =>
      create({ tenant, dataset }, examples.map(({ id, said }) => ({ id, dataset, said }))),
    ensureExamples: ({ examples, ...place }) =>
      writer.change(place, examples.map((each) => ({ kind: 'ensure', ...each }))),
    readUpload: async ({ tenant, body, contentType }) => {
      const [form] = await uploaded(longBodies, tenant, { body, contentType, formOnly: true })
      return form
    },
    addUpload: async ({ body, contentType, ...place }) => {
      const [, said] = await uploaded(longBodies, place.tenant, { body, contentType,
        formOnly: false })
      return create(place,
        said.map((each, index) => ({ dataset: null, said: each,
          id: namedId('uploaded', `${place.dataset} ${index}`) })
        ))
    },
    dropExamples: (place) => eraseDataset(store, place),
  }
}

/** Edits of each dataset that a request changes. Each dataset has its own when its turn comes. */
async function editsIn(parts: ExampleWritesParts,
  call: ExamplesCall): Promise<Iterable<readonly [Uuid, () => Edits | Promise<Edits>]>> {
  const { tenant, form, dataset } = call
  if (form === 'create' || form === 'createParts') {
    const sent = await sentIn(parts.longBodies, call, form === 'createParts')
    const groups = Map.groupBy(sent, (each) => dataset ?? each.dataset ?? noDataset())
    return [...groups].map(([id, own]) => [id, () => creationsOf(parts, tenant, own)] as const)
  }
  const groups = await grouped(parts, call, await changesIn(parts, call, form))
  return [...groups].map(([id, own]) => [id, () => own] as const)
}

type Edits = readonly ExampleEdit[]

/** Edits of examples that exist. */
async function changesIn({ longBodies }: ExampleWritesParts, call: ExamplesCall,
  form: Exclude<ExamplesCall['form'], 'create' | 'createParts'>): Promise<Edits> {
  const body = Buffer.from(call.body.buffer, call.body.byteOffset, call.body.byteLength)
  switch (form) {
    case 'update':
    case 'updateParts': {
      const sent = await sentIn(longBodies, call, form === 'updateParts')
      return sent.map((each) => ({ kind: 'update', said: each.said,
        id: call.id ?? each.id ?? noId() })
      )
    }
    case 'metadata': {
      const { ids, operations } = metadataChangeIn(body)
      return ids.map((id) => ({ kind: 'metadata', id, operations }))
    }
    case 'remove':
    case 'erase': {
      const ids = idsIn('example_ids', readable(() => JSON.parse(body.toString()) as unknown))
      const kind = form === 'erase' ? 'erase' : 'delete'
      return ids.map((id) => ({ kind, id }))
    }
  }
}

/** Edits that make examples, with what they copy of runs. */
async function creationsOf(parts: ExampleWritesParts, tenant: string,
  sent: readonly SentExample[]): Promise<readonly Creation[]> {
  const edits: Creation[] = []
  let copied = 0
  for (const each of sent) {
    const copy = await copyOf(parts, tenant, each.said)
    copied += bytesOf(copy)
    if (copied > copiedMax) {
      throw new HeddleError('too_large', `A request may copy ${copiedMax / 1024 / 1024} MiB of ` +
        'runs.')
    }
    edits.push(createOf(each, copy, parts.env.uuid()))
  }
  return edits
}

/** Bytes from which on a body is read where it holds up nobody. */
const longBytes = 256 * 1024

/** The examples in a body. */
async function sentIn(longBodies: LongBodies<ExamplesJob>,
  { tenant, body, contentType }: Pick<ExamplesCall, 'tenant' | 'body' | 'contentType'>,
  isParts: boolean): Promise<readonly SentExample[]> {
  if (body.byteLength < longBytes) {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    return isParts ? examplesInParts(bytes, contentType) : examplesIn(bytes)
  }
  const sent: SentExample[] = []
  const job = isParts
    ? { kind: 'exampleParts', contentType, body } as const
    : { kind: 'examples', body } as const
  for await (const part of longBodies.read(tenant, job)) sent.push(...part as SentExample[])
  return sent
}

interface Upload {
  readonly body: Uint8Array
  readonly contentType: string
  readonly formOnly: boolean
}

/** The form and the examples of a file. */
async function uploaded(longBodies: LongBodies<ExamplesJob>, tenant: string,
  upload: Upload): Promise<readonly [form: UploadForm, examples: readonly ExampleInput[]]> {
  const { body, contentType } = upload
  if (body.byteLength < longBytes) {
    const { form, examples } = examplesInUpload(body, contentType)
    return [form, examples]
  }
  let form: UploadForm | undefined
  const said: ExampleInput[] = []
  for await (const part of longBodies.read(tenant, { kind: 'upload', ...upload })) {
    if (form === undefined) form = part as UploadForm
    else said.push(...part as ExampleInput[])
  }
  return [form!, said]
}

/** Edits by the dataset of their example. Throws `not_found` if one is in none. */
async function grouped({ store, needs }: ExampleWritesParts,
  { tenant, dataset, form }: ExamplesCall,
  edits: readonly ExampleEdit[]): Promise<ReadonlyMap<Uuid, readonly ExampleEdit[]>> {
  if (dataset !== undefined) return new Map([[dataset, edits]])
  const known = new Map<Uuid, readonly Uuid[]>()
  for (const { id } of edits) {
    const found = await store.listDocuments(datasetsOf(tenant, id), {
      ...beginningWith(membershipKey(id)),
      limit: 100,
    })
    known.set(id, found.map(({ key }) => key.slice(membershipKey(id).length)))
  }
  const ids = [...new Set([...known.values()].flat())]
  const existing = new Set((await needs.datasets({ tenant, ids })).map(({ id }) => id))
  const groups = new Map<Uuid, ExampleEdit[]>()
  for (const edit of edits) {
    const own = known.get(edit.id)!.filter((id) => existing.has(id))
    if (own.length === 0) throw new HeddleError('not_found', `Example ${edit.id} not found.`)
    // An id that is in several datasets is removed from all of them, and changed in the first.
    for (const id of form === 'remove' || form === 'erase' ? own : own.slice(0, 1)) {
      groups.set(id, [...groups.get(id) ?? [], edit])
    }
  }
  return groups
}

type Creation = Extract<ExampleEdit, { readonly kind: 'create' }>

function createOf({ id, said }: SentExample, copied: Copied, newId: Uuid): Creation {
  return { kind: 'create', id: id ?? newId,
    said: { ...copied, ...said,
      ...copied.files && { files: [...copied.files, ...said.files ?? []] } } }
}

type Copied = Pick<ExampleInput, 'inputs' | 'outputs' | 'files'>

async function copyOf(parts: ExampleWritesParts, tenant: string,
  said: ExampleInput): Promise<Copied> {
  const { sourceRun, usesRun, runFiles } = said
  if (sourceRun === undefined || (usesRun !== true && runFiles === undefined)) return {}
  return copiedFrom(parts, tenant, sourceRun, said)
}

function bytesOf({ inputs, outputs, files = [] }: Copied): number {
  return (inputs?.byteLength ?? 0) + (outputs?.byteLength ?? 0) +
    files.reduce((sum, { data }) => sum + data.byteLength, 0)
}

/** Copies the inputs, outputs and attachments that an example asks of its run. `not_found`. */
async function copiedFrom({ store, projectIds }: ExampleWritesParts, tenant: string, run: Uuid,
  { usesRun, runFiles }: ExampleInput): Promise<Copied> {
  const places = await store.locate(tenant, [run])
  const projects = await projectIds(tenant, places.map((place) => place.project))
  const [head] = await store.heads(places.filter(({ project }) => projects.includes(project)))
  if (head === undefined) throw new HeddleError('not_found', `Run ${run} not found.`)
  const said: { inputs?: Uint8Array; outputs?: Uint8Array } = {}
  for await (const [, { payload }] of payloadsIn(store).of(usesRun ? [head] : [])) {
    said.inputs = payload.inputs ?? Buffer.from('{}')
    if (payload.outputs !== undefined) said.outputs = payload.outputs
  }
  const names = runFiles === undefined ? [] : (await store.files(head))
    .map(({ name }) => name).filter((name) => runFiles === true || runFiles.includes(name))
  const files = []
  for (const name of names) files.push(...await store.files(head, name))
  return { ...said, ...files.length > 0 && { files } }
}

function noDataset(): never {
  throw new HeddleError('invalid', 'dataset_id: an example needs one.')
}

function noId(): never {
  throw new HeddleError('invalid', 'id: an example that is changed needs one.')
}
