/** Examples in answers, as JSON texts. */

import { linkOf } from '../../records/downloads/download-link.ts'
import type { LinkKey } from '../../records/downloads/download-link.ts'
import type { Uuid } from '../../spans/span.ts'
import { zonedTextUs } from '../../spans/time.ts'
import type { ExampleInput } from './sent/example-edit.ts'
import type { DatasetPlace } from './example-place.ts'
import { splitsKey } from './example-change.ts'
import type { ExampleRow } from './example-row.ts'
import type { ExampleEntry } from './example-tree.ts'

/** Members that are left out unless they are selected. */
export interface ShownMembers {
  readonly outputs: boolean
  readonly metadata: boolean
  readonly files: boolean
}

/** Dataset, shown members and link key with which examples become JSON. */
export interface ShapeParts extends DatasetPlace {
  readonly shown: ShownMembers
  /** For links to attachments. */
  readonly links: LinkKey
}

/** The example as clients know it. Without a row, it was erased: then there is no text. */
export function exampleJson({ tenant, dataset, shown, links }: ShapeParts, entry: ExampleEntry,
  row: ExampleRow, more = ''): string {
  const head = {
    id: entry.id,
    dataset_id: dataset,
    name: `#${entry.id.slice(0, 4)}`,
    created_at: zonedTextUs(entry.createdUs),
    modified_at: zonedTextUs(entry.modifiedUs),
    source_run_id: row.sourceRun,
    ...shown.metadata && { metadata: { ...row.metadata, [splitsKey]: entry.splits } },
    ...shown.files && { attachment_urls: attachments({ tenant, dataset }, links, entry, row) },
  }
  const outputs = shown.outputs ? `,"outputs":${textOf(row.outputs)}` : ''
  return `${JSON.stringify(head).slice(0, -1)},"inputs":${textOf(row.inputs)}${outputs}${more}}`
}

/** An example that was checked and not made. */
export function checkedJson(dataset: Uuid, id: Uuid | null, said: ExampleInput): string {
  const { inputs, outputs = null, metadata = null, splits = null, sourceRun = null, createdUs,
    usesRun = false } = said
  const head = { id, dataset_id: dataset, metadata, split: splits, source_run_id: sourceRun,
    created_at: createdUs === undefined ? null : zonedTextUs(createdUs), overwrite: false,
    use_source_run_io: usesRun }
  return `${JSON.stringify(head).slice(0, -1)},"inputs":${textOf(inputs ?? null)},` +
    `"outputs":${textOf(outputs)}}`
}

function attachments({ tenant, dataset }: DatasetPlace, links: LinkKey, { id }: ExampleEntry,
  { files }: ExampleRow): Record<string, unknown> | null {
  if (files.length === 0) return null
  return Object.fromEntries(files.map(({ name, type, bytes, key }) => {
    const url = linkOf(links, { tenant, kind: 'example', ids: [dataset, id], name, type, key,
      bytes })
    return [`attachment.${name}`, { presigned_url: url, s3_url: url, mime_type: type }]
  }))
}

function textOf(json: Uint8Array | null): string {
  return json === null
    ? 'null'
    : Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()
}
