/**
 * The item actor: the single writer of one item.
 *
 * There is one for each (tenant, namespace, key). So the puts of a namespace need not wait for each
 * other, and large namespaces spread over all shards. A put replaces the whole row, and no reader
 * needs the order of puts to different items. So there is no log: the row carries the epoch of its
 * owner, and a late row of a deposed owner loses (Cassandra's timestamps, the epoch in SQLite). A
 * turn that writes lasts until its row is on disk and the ownership check has passed.
 *
 * An actor keeps nothing between turns and sleeps after each. The row is found by its id in the
 * index of the owner, in memory as a rule.
 *
 * Rules: [same_id] [item_commands].
 */

import type { Actor, ActorContext, ActorKind, ActorWire, Env, Turn } from '../../cluster/index.ts'
import type { ItemRow } from '../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../errors.ts'
import { rawValues } from '../json/index.ts'
import type { ItemIndex, MetadataFilter } from '../search/index.ts'
import { afterDelete, afterPut, afterRefresh, isApplied, isOver, itemWithEnd,
  living } from './item.ts'
import type { ItemContent, ItemPlace, ItemTurn } from './item.ts'
import { isSeenItem } from './seen-item.ts'

/** Name of the actor kind. */
export const itemKindName = 'item'

/** Members of the commands that replace or delete an item. */
interface ItemChange {
  /**
   * Filter of items that the caller sees; by default it sees all. In the turn, a put of an item
   * that does not match is `not_found`, and a deletion does nothing. Members of versions before
   * ignore it.
   */
  readonly allowed?: MetadataFilter | undefined
}

/** A command to an item. `get` is answered with the item or null, the others with nothing. */
export type ItemCommand =
  | { readonly kind: 'get'; readonly refresh: boolean }
  | { readonly kind: 'put'; readonly place: ItemPlace; readonly content: ItemContent } & ItemChange
  | { readonly kind: 'delete'; readonly place: ItemPlace } & ItemChange
  /** Moves the end of an item that was found by a search. */
  | { readonly kind: 'refresh' }
  /** Removes what has ended before that time for good. */
  | { readonly kind: 'sweep'; readonly beforeMs: number }
  /** Command of an actor to itself, to end when nothing else waits. */
  | { readonly kind: 'rest' }

type OuterCommand = Exclude<ItemCommand, { readonly kind: 'rest' }>
type Changing = Exclude<OuterCommand, { readonly kind: 'sweep' }>

/** Store of the items. It is the part of the log port that items need. */
export interface ItemLog {
  /** Resolves when every update is on disk. */
  append(rows: readonly never[], updates: readonly ItemUpdate[]): Promise<void>
}

type ItemUpdate =
  | { readonly table: 'item'; readonly row: ItemRow }
  | { readonly table: 'item_removed'; readonly tenant: string; readonly id: string;
    readonly epoch: number }

/** Ports of the items of one member, the same for all of them. */
export interface ItemActorParts {
  readonly log: ItemLog
  readonly index: Pick<ItemIndex, 'get'>
  readonly env: Pick<Env, 'nowMs'>
}

/** All commands and replies are plain data. */
export const itemWire: ActorWire = { values: rawValues }

/** The actor kind of items. */
export function itemKind(parts: ItemActorParts): ActorKind<ItemCommand> {
  return {
    name: itemKindName,
    wire: itemWire,
    create: (context) => new ItemActor(context, parts),
  }
}

class ItemActor implements Actor<ItemCommand> {
  readonly #context: ActorContext<ItemCommand>
  readonly #parts: ItemActorParts
  readonly occupied = false

  constructor(context: ActorContext<ItemCommand>, parts: ItemActorParts) {
    this.#context = context
    this.#parts = parts
  }

  activate(): Promise<void> {
    return Promise.resolve()
  }

  receive(command: ItemCommand, commandId?: string): Turn | Promise<Turn> {
    if (command.kind !== 'rest') return this.#work(command, commandId)
    this.#context.sleep()
    return { reply: null }
  }

  async #work(command: OuterCommand, commandId: string | undefined): Promise<Turn> {
    // A turn of its own, as an actor is occupied in the one that asks.
    this.#context.notify({ kind: 'rest' })
    const { key: { tenant, id }, epoch } = this.#context
    const turn = { tenant, epoch, commandId, nowMs: this.#parts.env.nowMs() }
    const row = await this.#parts.index.get(tenant, id)
    if (command.kind === 'sweep') return await this.#sweep(row, command.beforeMs)
    const isDone = command.kind !== 'get' && isApplied(row, commandId)
    const next = isDone || isUnseen(row, command, turn) ? undefined : changed(row, command, turn)
    const found = command.kind === 'get' ? living(row, turn.nowMs) : undefined
    const reply = found === undefined ? null : itemWithEnd(found)
    // What was not written has not passed the ownership check either, so the reply has to.
    if (next === undefined) return { reply, kind: 'read' }
    await this.#parts.log.append([], [{ table: 'item', row: next }])
    return { reply }
  }

  passivate(): Promise<void> {
    return Promise.resolve()
  }

  async #sweep(row: ItemRow | undefined, beforeMs: number): Promise<Turn> {
    const { key: { tenant, id }, epoch } = this.#context
    if (row === undefined || !isOver(row, beforeMs)) return { reply: null, kind: 'read' }
    await this.#parts.log.append([], [{ table: 'item_removed', tenant, id, epoch }])
    return { reply: null }
  }
}

/** True for a deletion of an item that its caller does not see. Throws `not_found` for a put. */
function isUnseen(row: ItemRow | undefined, command: Changing, { nowMs }: ItemTurn): boolean {
  if (command.kind !== 'put' && command.kind !== 'delete') return false
  const before = living(row, nowMs)
  if (before === undefined || isSeenItem(command.allowed, before)) return false
  if (command.kind === 'delete') return true
  throw new HeddleError('not_found', 'There is no such item.')
}

/** The row that is written; undefined if nothing changes. */
function changed(row: ItemRow | undefined, command: Changing, turn: ItemTurn): ItemRow | undefined {
  switch (command.kind) {
    case 'put':
      return afterPut(row, command.place, command.content, turn)
    case 'delete':
      return afterDelete(row, command.place, turn)
    case 'get':
      return command.refresh ? afterRefresh(row, turn) : undefined
    case 'refresh':
      return afterRefresh(row, turn)
  }
}
