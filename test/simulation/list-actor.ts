/** A tiny actor over the log of threads, whose whole state is a growing list. */

import { ByteBudget } from '../../cluster/index.ts'
import type { Actor, ActorContext, Env, Turn } from '../../cluster/index.ts'
import type { CheckpointPlace, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import { decodeRow } from '../../src/checkpoint/index.ts'
import type { LogPort, RecordOf } from '../../src/checkpoint/index.ts'
import type { ThreadIndex } from '../../src/search/index.ts'
import { ThreadLog } from '../../src/thread/log/thread-log.ts'

export const tenant = 'simulated'

/**
 * append   answered with the number of items, this one included; with `once`, an item that is there
 *          is not added again
 * read     answered with the items
 * find     answered with the number of items when this one was appended, by the place that the
 *          log keeps for it; with 0 if there is none
 * history  answered with the items, and with the items in the rows of the log
 */
export type Command =
  | { readonly type: 'append'; readonly item: string; readonly once?: true }
  | { readonly type: 'find'; readonly item: string }
  | { readonly type: 'read' }
  | { readonly type: 'history' }

export interface History {
  readonly items: readonly string[]
  readonly rows: readonly string[]
}

export interface ListActorParts {
  readonly env: Env
  readonly log: LogPort
  readonly threads: ThreadIndex
  /** For worlds without the rule `order`: resolves without waiting for earlier rows. */
  readonly early?: (branchId: string, seq: number) => Promise<void>
}

export function historyOf({ env, log, threads }: Pick<ListActorParts, 'env' | 'log' | 'threads'>,
  { key: { tenant: owner, id: threadId }, epoch, fail }: ActorContext): Promise<ThreadLog> {
  return ThreadLog.load({
    ports: { log, threads, views: new ByteBudget(1e6) },
    tenant: owner,
    threadId,
    epoch,
    after: env.after,
    onLost: fail,
  })
}

export class ListActor implements Actor {
  readonly #parts: ListActorParts
  readonly #context: ActorContext
  /** Set by `activate`, which comes before everything else. */
  #history!: ThreadLog

  constructor(parts: ListActorParts, context: ActorContext) {
    this.#parts = parts
    this.#context = context
  }

  readonly occupied = false

  async activate(): Promise<void> {
    this.#history = await historyOf(this.#parts, this.#context)
  }

  receive(command: unknown, id = this.#parts.env.uuid()): Turn {
    const seen = command as Command
    if (seen.type === 'append') return { reply: this.#append(seen.item, id, seen.once) }
    return { reply: this.#answer(seen), kind: 'read' }
  }

  follow(): Promise<() => void> {
    return Promise.reject(new Error('a list has nothing to follow'))
  }

  async passivate(): Promise<void> {
    this.#history.release()
    await this.#history.durable.catch(() => {})
  }

  /** The answer from the state in this turn. */
  async #answer(command: Exclude<Command, { type: 'append' }>): Promise<unknown> {
    const { row } = this.#history.state
    await this.#history.durable
    if (command.type === 'read') return itemsIn(row.metadataJson)
    const { log } = this.#parts
    if (command.type === 'history') {
      const rows = row.seq === 0 ? [] : await itemsOf(log, row)
      // Items appended meanwhile may be in the same row.
      if (this.#history.state.row !== row) return this.#answer(command)
      return { items: itemsIn(row.metadataJson), rows } satisfies History
    }
    const place = row.seq === 0 ? undefined : await log.findCheckpoint(row.branch!, command.item)
    return place === undefined ? 0 : numberAt(log, row, place)
  }

  /** A repeated command gets its first answer, and is not executed again. */
  async #append(item: string, id: string, once = false): Promise<number> {
    const history = this.#history
    const { exists, row } = history.state
    const { items: before = [], ids = [] } = JSON.parse(row.metadataJson) as Kept
    const known = once ? before.indexOf(item) : ids.indexOf(id)
    if (known >= 0) {
      await history.durable
      return known + 1
    }
    const items = [...before, item]
    const atMs = this.#parts.env.nowMs()
    const metadataJson = JSON.stringify({ items, ids: [...ids, id] })
    const threadId = this.#context.key.id
    const said: RecordOf = exists
      ? { $case: 'threadPatched', value: { atMs, metadataJson, configJson: '{}' } }
      : { $case: 'threadCreated',
        value: { threadId, atMs, metadataJson, hidden: false, copiedFrom: '', headCheckpointId: '',
          status: '', interruptsJson: '' } }
    const { seq } = history.position
    const durable = history.write([said, checkpoint(item, atMs)])
    const early = this.#parts.early?.(row.branch!.id, seq)
    await (early ? Promise.race([durable, early]) : durable)
    return items.length
  }
}

export function checkpoint(id: string, atMs: number): RecordOf {
  return { $case: 'checkpoint',
    value: { ns: '', id, parentId: '', full: true, changes: [], skeletonJson: '{}',
      metadataJson: '{}', runId: '', atMs } }
}

/** Items, and the id of the command that brought each of them. */
interface Kept {
  readonly items?: readonly string[]
  readonly ids?: readonly string[]
}

export function itemsIn(metadataJson: string): readonly string[] {
  return (JSON.parse(metadataJson) as Kept).items ?? []
}

/** Each row holds the item that it adds; the first row of a copy adds none. */
export async function itemsOf(log: LogPort, row: ThreadRow): Promise<string[]> {
  const entries = await log.read(row.branch!, { from: 1, through: row.seq })
  return entries.flatMap(({ body }) => decodeRow(body)).flatMap((
    record,
  ) => (isCreated(record) || record.$case === 'threadPatched'
    ? itemsIn(record.value.metadataJson).slice(-1)
    : [])
  )
}

function isCreated(record: RecordOf): record is Extract<RecordOf, { $case: 'threadCreated' }> {
  return record.$case === 'threadCreated' && record.value.copiedFrom === ''
}

/** The number of items once the row of this place had added the item with its name. */
async function numberAt(log: LogPort, row: ThreadRow,
  { seq, id }: CheckpointPlace): Promise<number> {
  const [entry] = await log.read(row.branch!, { from: seq, through: seq })
  let number = 0
  for (const record of entry ? decodeRow(entry.body) : []) {
    if (record.$case === 'threadCreated' || record.$case === 'threadPatched') {
      number = itemsIn(record.value.metadataJson).length
    } else if (record.$case === 'checkpoint' && record.value.id === id) return number
  }
  return 0
}
