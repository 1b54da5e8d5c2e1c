/** Commands of a catalog, and the effect of each on its records. Pure. */

import { HeddleError } from '../../../errors.ts'
import { catalogLimits, changedRecord, charactersOf, madeRecord, meets,
  requireModestRecord } from './catalog-record.ts'
import type { CatalogLimits, CatalogRecord, NewRecord, RecordChange } from './catalog-record.ts'
import { isOverFull } from './record-index.ts'
import type { ReadonlyRecordIndex } from './record-index.ts'
import type { RecordQuery } from './record-query.ts'

/** A command that changes records. All but `ensure` are answered with one record. */
export type ChangingCommand =
  /** The records of these names, made if there are none. The caller uses them for a second. */
  | { readonly kind: 'ensure'; readonly records: readonly NewRecord[] }
  /** `ifExists`: what changes of the record that has the name. Absent: `exists`. */
  | { readonly kind: 'create'; readonly record: NewRecord; readonly ifExists?: RecordChange }
  | { readonly kind: 'change'; readonly id: string; readonly change: RecordChange }
  /** Answered with the record as it was, when no member uses it any more. */
  | { readonly kind: 'delete'; readonly id: string }

/** A command to a catalog. */
export type CatalogCommand =
  | ChangingCommand
  /**
   * Answers the records that exist, in any order. With `keeps`, the caller uses them for a second.
   */
  | { readonly kind: 'get'; readonly ids: readonly string[]; readonly keeps?: boolean }
  | { readonly kind: 'list'; readonly query: RecordQuery }

/** Effect of a command: records to save and to delete, and the reply. */
export interface Decision {
  readonly saved: readonly CatalogRecord[]
  /** Ids. */
  readonly deleted: readonly string[]
  readonly reply: CatalogRecord | readonly CatalogRecord[]
}

/** State and limits that a catalog decides by. */
export interface DecisionParts {
  readonly index: ReadonlyRecordIndex
  readonly limits?: CatalogLimits
  readonly nowMs: number
  /** Name of a record's kind in messages. */
  readonly noun: string
}

/**
 * Decides the effect of a command on the records. Throws `exists`, `stale`, `not_found`, `invalid`
 * or `full`.
 */
export function decide(command: ChangingCommand, parts: DecisionParts): Decision {
  switch (command.kind) {
    case 'ensure':
      return ensured(command.records, parts)
    case 'create':
      return created(command.record, command.ifExists, parts)
    case 'change':
      return changed(existingRecord(command.id, parts), command.change, parts)
    case 'delete':
      return { saved: [], deleted: [command.id], reply: existingRecord(command.id, parts) }
  }
}

function ensured(wanted: readonly NewRecord[], parts: DecisionParts): Decision {
  const made = new Map<string, CatalogRecord>()
  const reply = wanted.map((each) => {
    const known = parts.index.named(each.name) ?? made.get(each.name)
    if (known !== undefined) return known
    if (parts.index.get(each.id) !== undefined) throw taken(`ID ${each.id}`, parts)
    const record = madeRecord(each, parts.nowMs)
    made.set(record.name, record)
    return record
  })
  const saved = [...made.values()]
  requireRoom(saved, parts)
  return { saved, deleted: [], reply }
}

function created(record: NewRecord, ifExists: RecordChange | undefined,
  parts: DecisionParts): Decision {
  const { index, nowMs } = parts
  const known = index.named(record.name)
  if (known !== undefined && ifExists !== undefined) return changed(known, ifExists, parts)
  if (known !== undefined) throw taken(`the name ${JSON.stringify(record.name)}`, parts)
  if (index.get(record.id) !== undefined) throw taken(`ID ${record.id}`, parts)
  const made = madeRecord(record, nowMs)
  requireRoom([made], parts)
  return { saved: [made], deleted: [], reply: made }
}

function changed(record: CatalogRecord, change: RecordChange, parts: DecisionParts): Decision {
  if (Object.keys(change).length === 0) return { saved: [], deleted: [], reply: record }
  const { expected } = change
  if (expected !== undefined && !meets(record, expected)) {
    throw new HeddleError('stale', `The ${parts.noun} was changed meanwhile: read it again.`)
  }
  const after = changedRecord(record, change, parts.nowMs)
  const holder = parts.index.named(after.name)
  if (holder !== undefined && holder.id !== record.id) {
    throw taken(`the name ${JSON.stringify(after.name)}`, parts)
  }
  requireRoom([after], parts, record)
  return { saved: [after], deleted: [], reply: after }
}

/** The record with this id. Throws `not_found`. */
export function existingRecord(id: string, { index, noun }: DecisionParts): CatalogRecord {
  const record = index.get(id)
  if (record === undefined) throw new HeddleError('not_found', `The ${noun} ${id} does not exist.`)
  return record
}

function requireRoom(records: readonly CatalogRecord[], parts: DecisionParts,
  before?: CatalogRecord): void {
  const { index, limits = catalogLimits, noun } = parts
  if (records.length === 0) return
  for (const record of records) requireModestRecord(record, limits)
  const grown = records.reduce((sum, record) => sum + charactersOf(record), 0)
    - (before === undefined ? 0 : charactersOf(before))
  const held = records.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
    - (before?.heldBytes ?? 0)
  if (held > 0 && index.heldBytes + held > limits.heldBytes) {
    throw new HeddleError('full', `All of this kind (${noun}) may have ${limits.heldBytes} bytes ` +
      'together. Delete some.')
  }
  const size = index.size + (before === undefined ? records.length : 0)
  if (grown <= 0 || !isOverFull({ size, characters: index.characters + grown }, limits)) return
  throw new HeddleError('full', `There is room for ${limits.records} records of this kind ` +
    `(${noun}) and ${limits.characters} characters of them. Delete some.`)
}

function taken(what: string, { noun }: DecisionParts): HeddleError {
  return new HeddleError('exists', `A ${noun} with ${what} already exists.`)
}
