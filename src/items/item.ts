/**
 * Fate of an item: pure decisions from its stored row, a command and the time.
 *
 * Rule: [item_commands].
 */

import type { ItemRow } from '../../proto/gen/storage/v1/row.ts'
import { deletedMs, isAlive } from '../search/index.ts'

/** An item as callers see it, without vectors. Its end is missing where a graph reads it. */
export type Item =
  & Pick<ItemRow, 'namespace' | 'key' | 'valueJson' | 'createdAtMs' | 'updatedAtMs'>
  & Partial<Pick<ItemRow, 'ttlMs' | 'expiresAtMs'>>

/** Names an item of a tenant. */
export interface ItemPlace {
  readonly namespace: readonly string[]
  readonly key: string
}

/** The content of a put. */
export interface ItemContent {
  readonly valueJson: string
  /** Time to live in milliseconds from now; 0 for no end. */
  readonly ttlMs: number
  /** Base64 of the vectors, each of `dims` floats of 32 bits; empty for none. */
  readonly vectors: string
  readonly dims: number
}

/** The writer: its tenant, its epoch, the id of its command if it has one, and its time. */
export interface ItemTurn {
  readonly tenant: string
  readonly epoch: number
  readonly commandId: string | undefined
  readonly nowMs: number
}

/**
 * Commands that are remembered. A caller repeats one for seconds, until it reaches the next owner:
 * of more writes in that time, the one that is repeated would come back.
 */
const appliedMax = 32

/** A refresh that would move the end by less is not worth a write. */
const refreshMs = 1_000

/** The row if it is there at that time. */
export function living(row: ItemRow | undefined, nowMs: number): ItemRow | undefined {
  return row && isAlive(row, nowMs) ? row : undefined
}

/** True if the command was done already. */
export function isApplied(row: ItemRow | undefined, commandId: string | undefined): boolean {
  return commandId !== undefined && row?.applied.includes(commandId) === true
}

/** The row after a put. An item that has expired begins anew. */
export function afterPut(row: ItemRow | undefined, { namespace, key }: ItemPlace,
  content: ItemContent, turn: ItemTurn): ItemRow {
  const { tenant, epoch, nowMs } = turn
  const { valueJson, ttlMs, vectors, dims } = content
  return {
    tenant,
    namespace: [...namespace],
    key,
    epoch,
    valueJson,
    createdAtMs: living(row, nowMs)?.createdAtMs ?? nowMs,
    updatedAtMs: nowMs,
    ttlMs,
    expiresAtMs: endOf(ttlMs, nowMs),
    vectors: Buffer.from(vectors, 'base64'),
    dims: vectors === '' ? 0 : dims,
    applied: withApplied(row, turn),
  }
}

/**
 * The row after a deletion; undefined if nothing changes. It stays for a while without its value,
 * so that a repeated command does not delete what was put meanwhile. Where owners change (commands
 * have ids then) it is written even if there is no item: a put of a deposed owner that is still on
 * its way must not bring it back.
 */
export function afterDelete(row: ItemRow | undefined, place: ItemPlace, turn: ItemTurn):
  | ItemRow
  | undefined {
  const alive = living(row, turn.nowMs)
  if (alive === undefined && turn.commandId === undefined) return undefined
  const nothing = { valueJson: '', ttlMs: 0, vectors: '', dims: 0 }
  return { ...afterPut(row, place, nothing, turn), expiresAtMs: deletedMs }
}

/** The row after a read that refreshes it; undefined if that changes nothing. */
export function afterRefresh(row: ItemRow | undefined, { epoch, nowMs }: ItemTurn):
  | ItemRow
  | undefined {
  const alive = living(row, nowMs)
  if (alive === undefined || alive.ttlMs === 0) return undefined
  const expiresAtMs = endOf(alive.ttlMs, nowMs)
  return expiresAtMs < alive.expiresAtMs + refreshMs ? undefined : { ...alive, epoch, expiresAtMs }
}

/** True if the row has ended before that time, so that nothing needs it any more. */
export function isOver({ expiresAtMs, updatedAtMs }: ItemRow, beforeMs: number): boolean {
  return expiresAtMs > 0 && expiresAtMs < beforeMs && updatedAtMs < beforeMs
}

/** The item as graphs see it. */
export function itemOf({ namespace, key, valueJson, createdAtMs, updatedAtMs }: ItemRow): Item {
  return { namespace, key, valueJson, createdAtMs, updatedAtMs }
}

/** The item with its end. */
export function itemWithEnd(row: ItemRow): Item {
  const { ttlMs, expiresAtMs } = row
  return { ...itemOf(row), ttlMs, expiresAtMs }
}

function endOf(ttlMs: number, nowMs: number): number {
  return ttlMs === 0 ? 0 : nowMs + ttlMs
}

function withApplied(row: ItemRow | undefined, { commandId }: ItemTurn): string[] {
  const known = row?.applied ?? []
  return commandId === undefined ? known : [...known, commandId].slice(-appliedMax)
}
