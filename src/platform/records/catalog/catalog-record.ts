/** A record of a catalog: how it is made and changed, and how large it may be. Pure. */

import type { CatalogRecord } from '../../../../proto/gen/storage/v1/catalog.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'

export type { CatalogRecord }

/** The records that a catalog may hold. A collection is one kind of record of each tenant. */
export type Collection = 'project' | 'project_name' | 'feedback_config' | 'chart' | 'chart_section'
  | 'view' | 'dataset' | 'comparison' | 'prompt' | 'comment' | 'queue' | 'rule' | 'rule_state'
  | 'rule_wake' | 'secret_tenant' | 'evaluator' | 'share' | 'secret' | 'price' | 'playground'
  | 'workspace' | 'deployment' | 'revision' | 'deployment_event' | 'deployment_use' | 'build'
  | 'replay' | 'model_use' | 'trace_deletion' | 'trace_deletion_wake' | 'experiment'
  | 'experiment_wake' | 'removal_wake'

/** Content of a new record. */
export interface NewRecord {
  readonly id: string
  readonly name: string
  /** A time by which lists may be sorted. */
  readonly orderMs: number
  /** The record of another catalog that it belongs to; empty for none. */
  readonly parentId: string
  /** JSON of an object. */
  readonly metadataJson: string
  /** JSON of an object. */
  readonly bodyJson: string
  /** Bytes that it keeps in documents; none by default. */
  readonly heldBytes?: number
}

/** A change of a record. Members that are absent stay. */
export interface RecordChange extends Partial<Omit<NewRecord, 'id' | 'bodyJson' | 'heldBytes'>> {
  /**
   * Members that the body must have, or must not have where this is null: else nothing changes,
   * and the command throws `stale`.
   */
  readonly expected?: Readonly<Record<string, string | number | boolean | null>>
  /** Bytes of documents that it keeps more, or fewer if below zero. */
  readonly heldBytesAdded?: number
  /** JSON of an object whose members replace those of the body. */
  readonly bodyJson?: string
}

/** Limits of one catalog, on records, characters and bytes. */
export const catalogLimits = {
  records: 100_000,
  /** Characters of all records together. */
  characters: 32 * 1024 * 1024,
  /** Characters of one record. */
  recordCharacters: 192 * 1024,
  nameCharacters: 1_000,
  /** Bytes of the documents of all records together. */
  heldBytes: 20 * 1024 ** 3,
  /** Superfluous rows of the log after which a snapshot is written. */
  spareRows: 1_000,
} as const

/** Limits as `catalogLimits` has them. */
export type CatalogLimits = { readonly [Name in keyof typeof catalogLimits]: number }

/** The record as it is after it was made. */
export function madeRecord(made: NewRecord, nowMs: number): CatalogRecord {
  return { heldBytes: 0, ...made, createdAtMs: nowMs, modifiedAtMs: nowMs }
}

/** The record after a change. */
export function changedRecord(record: CatalogRecord,
  { bodyJson, heldBytesAdded = 0, expected: _, ...change }: RecordChange,
  nowMs: number): CatalogRecord {
  const body = bodyJson === undefined ? record.bodyJson : merged(record.bodyJson, bodyJson)
  return { ...record, ...change, bodyJson: body,
    heldBytes: Math.max(0, record.heldBytes + heldBytesAdded), // The clock may have gone back.
    modifiedAtMs: Math.max(nowMs, record.modifiedAtMs) }
}

/** True if the body has these members. */
export function meets({ bodyJson }: CatalogRecord,
  expected: NonNullable<RecordChange['expected']>): boolean {
  const body: unknown = JSON.parse(bodyJson)
  return isObject(body) &&
    Object.entries(expected).every(([name, value]) =>
      (Object.hasOwn(body, name) ? body[name] ?? null : null) === value
    )
}

/** Characters that a record takes in memory. */
export function charactersOf({ name, metadataJson, bodyJson }: CatalogRecord): number {
  return 150 + name.length + metadataJson.length + bodyJson.length
}

/** Throws `invalid` if the record is too large. */
export function requireModestRecord(record: CatalogRecord, limits: CatalogLimits): void {
  const { nameCharacters, recordCharacters } = limits
  if (record.name.length > nameCharacters) {
    throw new HeddleError('invalid', `name: it may have ${nameCharacters} characters.`)
  }
  if (charactersOf(record) > recordCharacters) {
    throw new HeddleError('invalid', `This has more than the ${recordCharacters} characters that ` +
      'its name, its metadata and the rest may have together.')
  }
}

function merged(bodyJson: string, changeJson: string): string {
  const [body, change] = [JSON.parse(bodyJson), JSON.parse(changeJson)] as [unknown, unknown]
  return JSON.stringify({ ...isObject(body) && body, ...isObject(change) && change })
}
