/** Applies one edit to one example and compares the result with the example before. Pure. */

import { isDeepStrictEqual } from 'node:util'

import { HeddleError } from '../../../errors.ts'
import { contentAfter, withMetadata } from './example-change.ts'
import type { Content } from './example-change.ts'
import type { ExampleEdit } from './sent/example-edit.ts'
import { sealRow } from './example-row.ts'
import type { ExampleEntry } from './example-tree.ts'

/** An edit, and what is known of its example. */
export interface Known {
  readonly edit: ExampleEdit
  readonly place: number | undefined
  readonly entry: ExampleEntry | undefined
  readonly before: Content | undefined
}

/** The example after the edit; null if it is gone, undefined if the edit does nothing. */
export function resultOf({ edit, entry, before }: Known, files: Content['row']['files']) {
  switch (edit.kind) {
    case 'create':
      return contentAfter(edit.id, undefined, edit.said, files)
    case 'ensure':
      if (before === undefined) return contentAfter(edit.id, undefined, edit.said, files)
      requireSame(edit, before)
      return undefined
    case 'update':
      if (before === undefined) {
        throw new HeddleError('not_found', `Example ${edit.id} not found.`)
      }
      return contentAfter(edit.id, before, edit.said, files)
    case 'metadata':
      return before && withMetadata(edit.id, before, edit.operations)
    case 'delete':
      return entry === undefined ? undefined : null
    case 'erase':
      return null
  }
}

/** Throws `exists` if the example has other inputs, or other outputs than are said. */
function requireSame({ id, said }: Extract<ExampleEdit, { readonly kind: 'ensure' }>,
  { row }: Content): void {
  const isSame = (a: Uint8Array, b: Uint8Array | null) =>
    b !== null && (Buffer.compare(a, b) === 0 || isDeepStrictEqual(valueOf(a), valueOf(b)))
  if (isSame(said.inputs!, row.inputs) && (!said.outputs || isSame(said.outputs, row.outputs))) {
    return
  }
  throw new HeddleError('exists', `Example ${id} already exists with other inputs or outputs.`)
}

function valueOf(json: Uint8Array): unknown {
  return JSON.parse(Buffer.from(json).toString())
}

/** The row, and whether it is another one than before. `exists` if it may not be another one. */
export function rowOf({ edit, before }: Known, { row }: Content) {
  const body = sealRow(row)
  const isNew = before === undefined || !isSameRow(row, before.row)
  if (edit.kind === 'create' && before !== undefined && isNew) {
    throw new HeddleError('exists', `Example ${edit.id} already exists.`)
  }
  return { body, isNew }
}

/** Attachments that were sent again have other keys. */
function isSameRow(a: Content['row'], b: Content['row']): boolean {
  const plain = (row: Content['row']) =>
    sealRow({ ...row, files: row.files.map((file) => ({ ...file, key: '' })) })
  return plain(a).equals(plain(b)) &&
    a.files.every(({ key }, index) => key.slice(13) === b.files[index]!.key.slice(13))
}

/** True if both name the same splits in the same order. */
export function sameSplits(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index])
}

/** When the example was made, in microseconds. */
export function createdOf({ edit, entry }: Known, stampUs: number): number {
  const said = edit.kind === 'create' ? edit.said.createdUs : undefined
  return entry?.createdUs ?? said ?? stampUs
}
