/** A list like that of list-actor.ts that can also be removed, made again and copied; with runs. */

import type { Actor, ActorContext, ActorKey, Turn } from '../../cluster/index.ts'
import { findApplied } from '../../src/owned-row/index.ts'
import type { RecordOf } from '../../src/checkpoint/index.ts'
import { HeddleError } from '../../src/errors.ts'
import type { RunTable } from '../../src/search/index.ts'
import { Purge } from '../../src/thread/actor/purge.ts'
import type { ThreadLog } from '../../src/thread/log/thread-log.ts'
import type { Origin } from '../../src/thread/model/command.ts'
import { originOf } from '../../src/thread/model/origin.ts'
import { fromOrigin } from '../../src/thread/model/thread-state.ts'
import { checkpoint, itemsIn, itemsOf, historyOf, tenant } from './list-actor.ts'
import type { ListActorParts } from './list-actor.ts'

/**
 * put     adds an item and makes a run with its name or, in a new life, with the same name as in
 *         every life: answered with a Place
 * look    answered with a Look
 * life    answered with the current life
 * remove  ends the given life, or any: answered with a Removal
 * copy    answered with a Copied
 */
export type LifeCommand =
  | { readonly type: 'put'; readonly item: string }
  | { readonly type: 'look' }
  | { readonly type: 'life' }
  | { readonly type: 'remove'; readonly life?: string }
  | { readonly type: 'copy'; readonly target: string }

/** Commands that actors send to each other and to themselves. */
type OwnCommand =
  | { readonly type: 'adopt'; readonly origin: Origin }
  | { readonly type: 'end'; readonly run: string }

/** The position of an item; a life is named by its branch of the log. */
export interface Place {
  readonly life: string
  readonly number: number
}

export interface Look {
  /** Empty if there is none now. */
  readonly life: string
  readonly items: readonly string[]
  /** As in the rows of the log; undefined if the log grew meanwhile. */
  readonly rows: readonly string[] | undefined
  /** As they are listed. */
  readonly runs: RunStatuses
  /** Status of the run of the newest item, as it is read by its id; undefined if it is not read. */
  readonly newest?: string | undefined
}

/** Status by run. */
export type RunStatuses = Readonly<Record<string, string>>

/** The life that ended: empty if it had ended, undefined if an earlier try ended it. */
export interface Removal {
  readonly life: string | undefined
}

/** Null if there was nothing to copy. */
export type Copied = { readonly life: string; readonly items: readonly string[];
  /** False if the copy had been made before. */
  readonly isNew: boolean } | null

export interface LifeActorParts extends ListActorParts {
  readonly runs: RunTable
  readonly ask: (key: ActorKey, command: unknown) => Promise<unknown>
  /** Whether what is kept back is written before anybody is answered about it. */
  readonly keepsFirst: boolean
  /** Whether a look reads a run by its id as well. */
  readonly gets: boolean
  /** Whether a life begins before the rest of the previous one is purged. */
  readonly hasty: boolean
}

export const firstRun = 'first'

/** The runs of a list in this table. */
export async function runStatuses(table: Pick<RunTable, 'list'>,
  threadId: string): Promise<RunStatuses> {
  const runs = await table.list({ tenant, threadId, limit: 1_000, offset: 0, texts: [] })
  return Object.fromEntries(runs.map(({ runId, status }) => [runId, status]))
}

const nothing = { items: [], rows: [], runs: {} }

/** Lives of a list over the real log. Real threads are simulated in `serving/`. */
export class LifeActor implements Actor {
  readonly #parts: LifeActorParts
  readonly #context: ActorContext
  readonly #purge: Purge
  /** Set by `activate`, which comes before everything else. */
  #history!: ThreadLog

  constructor(parts: LifeActorParts, context: ActorContext) {
    this.#parts = parts
    this.#context = context
    this.#purge = new Purge(parts, context)
  }

  get occupied(): boolean {
    return this.#purge.underWay || !this.#history.isOnDisk()
  }

  async activate(): Promise<void> {
    this.#history = await historyOf(this.#parts, this.#context)
    const { runs, row: { branch, deleted } } = this.#history.state
    if (deleted) await this.#purge.once(branch!)
    for (const { runId } of runs) this.#end(runId)
  }

  receive(command: unknown, id = this.#parts.env.uuid()): Turn | Promise<Turn> {
    const seen = command as LifeCommand | OwnCommand
    switch (seen.type) {
      case 'put':
        return { reply: this.#put(seen.item, id) }
      case 'look':
        return { reply: this.#look(), kind: 'read' }
      case 'life':
        return { reply: this.#named(), kind: 'read' }
      case 'remove':
        return { reply: this.#remove(id, seen.life) }
      case 'copy':
        return this.#copy(seen.target)
      case 'adopt':
        return { reply: this.#adopt(seen.origin) }
      case 'end':
        return { reply: this.#end(seen.run) }
    }
  }

  follow(): Promise<() => void> {
    return Promise.reject(new Error('a list has nothing to follow'))
  }

  async passivate(): Promise<void> {
    this.#history.release()
    await Promise.all([this.#history.quiet(), this.#purge.stop()])
  }

  get #life(): string {
    const { exists, row } = this.#history.state
    return exists ? row.branch!.id : ''
  }

  get #purged(): Promise<void> {
    return this.#parts.hasty ? Promise.resolve() : this.#purge.lastTry
  }

  get #items(): readonly string[] {
    return itemsIn(this.#history.state.row.metadataJson)
  }

  async #put(item: string, id: string): Promise<Place> {
    const history = this.#history
    const { exists, applied: received, row: { seq } } = history.state
    const isNoticed = findApplied(received, id) !== undefined
    if (!isNoticed && !exists && seq > 0) history.renew(this.#purged)
    const run = history.state.exists ? item : firstRun
    const durable = isNoticed ? history.durable : history.write(
      [...this.#itemPut(item, run), { $case: 'commandApplied', value: { commandId: id } }],
    )
    const place = { life: this.#life, number: this.#items.indexOf(item) + 1 }
    await durable
    if (!isNoticed) this.#context.notify({ type: 'end', run } satisfies OwnCommand)
    return place
  }

  #itemPut(item: string, runId: string): RecordOf[] {
    const atMs = this.#parts.env.nowMs()
    const metadataJson = JSON.stringify({ items: [...this.#items, item] })
    return [
      this.#history.state.exists
        ? { $case: 'threadPatched', value: { atMs, metadataJson, configJson: '{}' } }
        : this.#created({ metadataJson, copiedFrom: '' }),
      { $case: 'runCreated', value: {
        runId,
        atMs,
        assistantId: '',
        commandId: '',
        multitaskStrategy: 'enqueue',
        metadataJson: '{}',
        kwargsJson: '{}',
        planJson: '{}',
        notBeforeMs: 0,
      } },
      checkpoint(item, atMs),
    ]
  }

  #created(value: { readonly metadataJson: string; readonly copiedFrom: string }): RecordOf {
    return { $case: 'threadCreated', value: {
      threadId: this.#context.key.id,
      atMs: this.#parts.env.nowMs(),
      hidden: false,
      headCheckpointId: '',
      status: '',
      interruptsJson: '',
      ...value,
    } }
  }

  /** The owner that made the run, or the next one, ends it. */
  #end(run: string): void {
    const { state: { runs } } = this.#history
    if (!runs.some(({ runId }) => runId === run)) return
    void this.#history.write([{ $case: 'runEnded', value: {
      runId: run,
      atMs: this.#parts.env.nowMs(),
      status: 'success',
      errorJson: '',
      interruptsJson: '',
      waiting: false,
      finalCheckpointId: '',
      owesWebhook: false,
      ownerDeaths: 0,
      suspect: false,
      attempt: 0,
    } }])
  }

  async #look(): Promise<Look> {
    const history = this.#history
    const [life, items] = [this.#life, this.#items]
    const { row } = history.state
    await history.durable
    const { runs, gets } = this.#parts
    const newest = items.at(-1)
    const run = gets && newest !== undefined
      ? await runs.get(tenant, row.threadId, items.length === 1 ? firstRun : newest)
      : undefined
    const listed = await runStatuses(runs, row.threadId)
    if (life === '') return { ...nothing, life, runs: listed }
    const rows = await itemsOf(this.#parts.log, row).catch((error: unknown) => {
      // It may have been removed since.
      if (this.#life === life) throw error
      return undefined
    })
    const isSame = this.#life === life && this.#items.length === items.length
    return { life, items, runs: listed, rows: isSame ? rows : undefined,
      ...gets && { newest: run?.status ?? 'missing' } }
  }

  async #named(): Promise<{ readonly life: string }> {
    const life = this.#life
    await this.#history.durable
    return { life }
  }

  async #remove(id: string, meant = this.#life): Promise<Removal> {
    const history = this.#history
    const life = this.#life
    const isNoticed = findApplied(history.state.applied, id) !== undefined
    if (isNoticed || life === '' || life !== meant) {
      await history.durable
      return { life: isNoticed ? undefined : '' }
    }
    const branch = history.state.row.branch!
    const deleted = history.write([
      { $case: 'threadDeleted', value: { atMs: this.#parts.env.nowMs() } },
      { $case: 'commandApplied', value: { commandId: id } },
    ])
    history.release()
    await this.#purge.after(deleted, branch)
    return { life }
  }

  /** The copy is made within this turn, so that the source cannot be removed meanwhile. */
  async #copy(target: string): Promise<Turn> {
    const history = this.#history
    await history.durable
    if (!history.state.exists) return { reply: null }
    const origin = originOf(history.state, history.storedBytes)
    const command: OwnCommand = { type: 'adopt', origin }
    return { reply: await this.#parts.ask({ kind: 'thread', tenant, id: target }, command) }
  }

  async #adopt(origin: Origin): Promise<Copied> {
    const history = this.#history
    const { exists, applied: received } = history.state
    const { threadId: copiedFrom, metadataJson } = origin
    if (exists && !findApplied(received, copiedFrom)) throw new HeddleError('exists')
    if (!exists) {
      const threadId = this.#context.key.id
      const branchId = this.#parts.log.newBranchId()
      history.begin(fromOrigin({ tenant, threadId, branchId }, origin), this.#purged)
      void history.write([this.#created({ metadataJson, copiedFrom }), { $case: 'commandApplied',
        value: { commandId: copiedFrom } }])
    }
    const copied = { life: this.#life, items: this.#items, isNew: !exists }
    await history.durable
    return copied
  }
}
