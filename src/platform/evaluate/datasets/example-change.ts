/** Content of examples after edits: values, metadata, splits and attachments, within bounds. */

import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import type { Dataset } from './dataset.ts'
import { baseSplit } from './sent/example-edit.ts'
import type { ExampleInput, KeptFiles, MetadataOperation } from './sent/example-edit.ts'
import type { ExampleFile, ExampleRow } from './example-row.ts'
import { misfit } from './schema-check.ts'

/** The name under which metadata on the wire have the splits. */
export const splitsKey = 'dataset_split'
const [splitsMax, splitLengthMax] = [100, 255]
const filesMax = 100
/** Characters of the metadata of an example. */
export const metadataMax = 256 * 1024

/** Content of an example: its row and its splits, without its times. */
export interface Content {
  readonly row: ExampleRow
  readonly splits: readonly string[]
}

/** The content of an example after an edit. `files`: those that came with it. Throws `invalid`. */
export function contentAfter(id: string, before: Content | undefined, said: ExampleInput,
  files: readonly ExampleFile[]): Content {
  const inputs = said.inputs ?? before?.row.inputs
  if (inputs === undefined) throw new HeddleError('invalid', `Example ${id}: it needs inputs.`)
  const metadata = said.metadata ?? before?.row.metadata ?? {}
  const { [splitsKey]: named, ...others } = metadata
  const splits = said.splits ?? (said.metadata === undefined ? undefined : splitsIn(named))
  return {
    row: {
      inputs,
      outputs: said.outputs === undefined ? before?.row.outputs ?? null : said.outputs,
      metadata: others,
      sourceRun: said.sourceRun ?? before?.row.sourceRun ?? null,
      files: filesAfter(id, before?.row.files ?? [], said, files),
    },
    splits: checkedSplits(id, splits ?? before?.splits ?? [baseSplit]),
  }
}

/** The splits that a value names; undefined for none. */
export function splitsIn(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return undefined
  return value.filter((each): each is string => typeof each === 'string')
}

/** The content after changes of its metadata, one after the other. */
export function withMetadata(id: string, before: Content,
  operations: readonly MetadataOperation[]): Content {
  let { splits } = before
  const metadata = new Map(Object.entries(before.row.metadata))
  for (const { key, operation, value, values } of operations) {
    const known = key === splitsKey ? splits : metadata.get(key)
    const list: unknown[] = Array.isArray(known) ? known : []
    const changed = operation === 'set'
      ? value
      : operation === 'add'
      ? [...list, ...without(values, list)]
      : without(list, values)
    if (key === splitsKey) splits = splitsIn(changed) ?? []
    else metadata.set(key, changed)
  }
  const after = Object.fromEntries(metadata)
  if (JSON.stringify(after).length > metadataMax) {
    throw new HeddleError('invalid', `Example ${id}: metadata may have ${metadataMax / 1024} KB.`)
  }
  return { row: { ...before.row, metadata: after }, splits: checkedSplits(id, splits) }
}

function without(list: readonly unknown[], values: readonly unknown[]): readonly unknown[] {
  const gone = new Set(values)
  return list.filter((each) => !gone.has(each))
}

/** Throws `invalid` and names the example and the place if it does not fit the dataset. */
export function requireFit({ inputsSchema, outputsSchema }: Dataset, id: string,
  { inputs, outputs }: ExampleRow): void {
  const check = (name: string, schema: string | null, json: Uint8Array | null) => {
    const value: unknown = json === null ? null : JSON.parse(Buffer.from(json).toString())
    if (!isObject(value) && json !== null) {
      throw new HeddleError('invalid', `Example ${id}: ${name} is no object.`)
    }
    if (schema === null || json === null) return
    const found = misfit(JSON.parse(schema), value)
    if (found === undefined) return
    const path = found.path === '' ? name : `${name}.${found.path}`
    throw new HeddleError('invalid', `Example ${id}: ${path} ${found.reason}.`)
  }
  check('inputs', inputsSchema, inputs)
  check('outputs', outputsSchema, outputs)
}

function filesAfter(id: string, before: readonly ExampleFile[], { kept }: ExampleInput,
  sent: readonly ExampleFile[]): readonly ExampleFile[] {
  const all = new Map([...stayingFiles(id, before, kept, sent), ...sent]
    .map((file) => [file.name, file]))
  if (all.size <= filesMax) return [...all.values()]
  throw new HeddleError('invalid', `Example ${id}: it may have ${filesMax} attachments.`)
}

/** New attachments replace all others, unless the request says which of them stay. */
function stayingFiles(id: string, before: readonly ExampleFile[], kept: KeptFiles | undefined,
  sent: readonly ExampleFile[]): readonly ExampleFile[] {
  if (kept === undefined) return sent.length === 0 ? before : []
  const staying = before.flatMap((file) => {
    const renamed = Object.hasOwn(kept.rename, file.name) ? kept.rename[file.name] : undefined
    if (renamed !== undefined) return [{ ...file, name: renamed }]
    return kept.retain.includes(file.name) ? [file] : []
  })
  const names = new Set(staying.map(({ name }) => name))
  const isTwice = before.some(({ name }) =>
    Object.hasOwn(kept.rename, name) && kept.retain.includes(name)
  )
  if (names.size === staying.length && !isTwice) return staying
  throw new HeddleError('invalid',
    `Example ${id}: an attachment is renamed onto the name of another one, or retained as well.`)
}

function checkedSplits(id: string, splits: readonly string[]): readonly string[] {
  const all = [...new Set(splits)]
  if (all.length <= splitsMax && all.every(({ length }) => length <= splitLengthMax)) return all
  throw new HeddleError('invalid', `Example ${id}: it may be in ${splitsMax} splits, whose names ` +
    `have up to ${splitLengthMax} characters.`)
}
