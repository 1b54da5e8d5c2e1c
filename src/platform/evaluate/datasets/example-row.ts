/** The row of an example: what one of its versions says. Inputs and outputs stay as they came. */

import { HeddleError } from '../../../errors.ts'
import type { Uuid } from '../../spans/span.ts'

/** An attachment of an example. */
export interface ExampleFile {
  readonly name: string
  /** Media type as the client gave it. */
  readonly type: string
  readonly bytes: number
  /** Under which its parts are kept. */
  readonly key: string
}

/** Content of one version of an example: its values, its source and its attachments. */
export interface ExampleRow {
  /** JSON in UTF-8. */
  readonly inputs: Uint8Array
  readonly outputs: Uint8Array | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly sourceRun: Uuid | null
  readonly files: readonly ExampleFile[]
}

/** Bytes that an example may have without its attachments. */
const exampleBytesMax = 1024 * 1024

const newline = 10
const nothing = Buffer.from('null')

/** The bytes of a row: a line with what is read often, and both payloads. */
export function sealRow({ inputs, outputs, ...head }: ExampleRow): Buffer {
  const line = JSON.stringify([inputs.byteLength, head.metadata, head.sourceRun, head.files])
  const row = Buffer.concat([Buffer.from(`${line}\n`), inputs, outputs ?? nothing])
  if (row.byteLength > exampleBytesMax) {
    throw new HeddleError('too_large', `An example may have ${exampleBytesMax / 1024 / 1024} MiB ` +
      'without its attachments.')
  }
  return row
}

/** The row in these bytes. */
export function openRow(bytes: Uint8Array): ExampleRow {
  const end = bytes.indexOf(newline)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, end).toString()
  const [length, metadata, sourceRun, files] = JSON.parse(text) as [number, ExampleRow['metadata'],
    Uuid | null, readonly ExampleFile[]]
  const outputs = bytes.subarray(end + 1 + length)
  return {
    inputs: bytes.subarray(end + 1, end + 1 + length),
    outputs: nothing.equals(outputs) ? null : outputs,
    metadata,
    sourceRun,
    files,
  }
}
