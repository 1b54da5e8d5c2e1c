/** Files that become datasets: CSV with a line of names, or a JSON object in each line. */

import { createHash } from 'node:crypto'

import { HeddleError } from '../../../../errors.ts'
import { isObject } from '../../../../json/index.ts'
import { boundaryOf, partsOf } from '../../../ingest/body/multipart.ts'
import { recordsIn, withoutMark } from './csv.ts'
import type { ExampleInput } from './example-edit.ts'

/** Examples of a file, and their bytes: a line may take more room than it has characters. */
const [examplesMax, bytesMax] = [100_000, 64 * 1024 * 1024]
/** Names of columns in a form. */
const keysMax = 1_000

/** Members of an upload form that describe the new dataset, besides the file. */
export interface UploadForm {
  readonly name: string | null
  readonly description: string | null
  readonly dataType: string | null
  /** The same for a file that is sent again. */
  readonly content: string
}

interface Form extends UploadForm {
  readonly file: Buffer
  readonly fileName: string
  readonly inputKeys: readonly string[]
  readonly outputKeys: readonly string[]
  readonly metadataKeys: readonly string[]
}

/** The form, and the examples of its file. Throws `malformed` or `invalid`. */
export function examplesInUpload(body: Uint8Array, contentType: string): {
  readonly form: UploadForm
  readonly examples: readonly ExampleInput[]
} {
  const form = formIn(Buffer.from(body.buffer, body.byteOffset, body.byteLength), contentType)
  const { name, description, dataType, content, fileName } = form
  const text = form.file.toString()
  const isLines = /\.jsonl?$/i.test(fileName) || /^\s*\{/.test(text)
  const examples = isLines ? examplesInLines(text, form) : examplesInCsv(text, form)
  return {
    form: { name: name ?? (fileName === '' ? null : fileName), description, dataType, content },
    examples,
  }
}

function contentOf(
  { file, ...keys }: Pick<Form, 'file' | 'inputKeys' | 'outputKeys' | 'metadataKeys'>,
): string {
  return createHash('sha256').update(JSON.stringify(keys)).update(file).digest('hex')
}

function formIn(body: Buffer, contentType: string): Form {
  const fields = new Map<string, string[]>()
  let [file, fileName]: [Buffer | undefined, string] = [undefined, '']
  for (const { name, data } of partsOf(body, boundaryOf(contentType))) {
    if (data === null) throw new HeddleError('malformed', 'The body ends before its end.')
    if (name === 'file') {
      file = data
      fileName = fileNameBefore(body, data)
      continue
    }
    const all = fields.get(name) ?? []
    fields.set(name, all)
    if (all.push(data.toString()) > keysMax) {
      throw new HeddleError('too_large', `${name}: there may be ${keysMax}.`)
    }
  }
  if (file === undefined) throw new HeddleError('invalid', 'file: it is missing.')
  const one = (name: string) => fields.get(name)?.[0] ?? null
  const many = (name: string) => fields.get(name) ?? []
  const columns = { inputKeys: many('input_keys'), outputKeys: many('output_keys'),
    metadataKeys: many('metadata_keys') }
  return { file, fileName, name: one('name'), description: one('description'),
    dataType: one('data_type'), ...columns, content: contentOf({ file, ...columns }) }
}

/** The name of the file in the headers that stand before its data. */
function fileNameBefore(body: Buffer, data: Buffer): string {
  const at = data.byteOffset - body.byteOffset
  const headers = body.toString('utf8', Math.max(0, at - 2_000), at)
  const named = headers.lastIndexOf('filename="')
  return named === -1 ? '' : /^filename="([^"\r\n]*)"/.exec(headers.slice(named))?.[1] ?? ''
}

function examplesInCsv(text: string, given: Form): readonly ExampleInput[] {
  const form = { ...given, inputKeys: given.inputKeys.map(withoutMark),
    outputKeys: given.outputKeys.map(withoutMark),
    metadataKeys: given.metadataKeys.map(withoutMark) }
  const records = recordsIn(text)
  const { value: first } = records.next()
  const names = first?.map(withoutMark)
  if (!names) throw new HeddleError('invalid', 'file: it has no line of names.')
  const columns = new Map(names.map((name, index) => [name, index]))
  const keys = [...form.inputKeys, ...form.outputKeys, ...form.metadataKeys]
  for (const key of keys) {
    if (!columns.has(key)) {
      throw new HeddleError('invalid', `file: it has no column ${JSON.stringify(key)}.`)
    }
  }
  // Columns that no example keeps are counted nowhere, so rows must not cost their number.
  const kept = form.inputKeys.length === 0
    ? [...columns]
    : keys.map((key) => [key, columns.get(key)!] as const)
  const read: Read = { examples: [], bytes: 0 }
  for (const record of records) {
    const row = kept.map(([name, index]) => [name, withoutMark(record[index] ?? '')] as const)
    add(read, Object.fromEntries(row), form)
  }
  return read.examples
}

function examplesInLines(text: string, form: Form): readonly ExampleInput[] {
  const read: Read = { examples: [], bytes: 0 }
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      throw new HeddleError('invalid', `file: line ${index + 1} is no JSON.`)
    }
    if (!isObject(value)) {
      throw new HeddleError('invalid', `file: line ${index + 1} is no object.`)
    }
    add(read, value, form)
  }
  return read.examples
}

/** Examples that were read by now, and their bytes. */
interface Read {
  readonly examples: ExampleInput[]
  bytes: number
}

function add(read: Read, row: Readonly<Record<string, unknown>>, form: Form): void {
  if (read.examples.length === examplesMax) {
    throw new HeddleError('too_large', `A file may have ${examplesMax} examples.`)
  }
  const said = saidIn(row, form)
  const { inputs, outputs, metadata } = said
  read.bytes += (inputs?.byteLength ?? 0) + (outputs?.byteLength ?? 0) +
    (metadata === undefined ? 0 : JSON.stringify(metadata).length)
  if (read.bytes > bytesMax) {
    throw new HeddleError('too_large',
      `The examples of a file may have ${bytesMax / 1024 / 1024} ` +
        'MiB, with the names of their columns.')
  }
  read.examples.push(said)
}

/** Without keys, a line has `inputs` and `outputs` itself, as downloads of JSON lines do. */
function saidIn(row: Readonly<Record<string, unknown>>,
  { inputKeys, outputKeys, metadataKeys }: Form): ExampleInput {
  if (inputKeys.length === 0 && isObject(row['inputs'])) {
    const { inputs, outputs, metadata } = row
    return { inputs: bytesOf(inputs), ...isObject(outputs) && { outputs: bytesOf(outputs) },
      ...isObject(metadata) && { metadata } }
  }
  const only = (keys: readonly string[]) =>
    Object.fromEntries(keys.map((key) => [key, Object.hasOwn(row, key) ? row[key] : null]))
  const named = new Set([...outputKeys, ...metadataKeys])
  const others = Object.keys(row).filter((key) => !named.has(key))
  return {
    inputs: bytesOf(only(inputKeys.length > 0 ? inputKeys : others)),
    ...outputKeys.length > 0 && { outputs: bytesOf(only(outputKeys)) },
    ...metadataKeys.length > 0 && { metadata: only(metadataKeys) },
  }
}

function bytesOf(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}
