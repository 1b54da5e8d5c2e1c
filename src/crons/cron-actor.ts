/**
 * The cron actor: the single writer of one cron. It fires what is due.
 *
 * A turn that writes lasts until its row is on disk, so whatever is in memory is durable. A firing
 * runs beside the mailbox: the cron can be read, changed and deleted meanwhile.
 */

import type { Actor, ActorContext, ActorKind, ActorWire, Env, Turn } from '../../cluster/index.ts'
import type { CronRow } from '../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../checkpoint/index.ts'
import { HeddleError } from '../errors.ts'
import { rawValues } from '../json/index.ts'
import { OwnedRow } from '../owned-row/index.ts'
import type { OwnedRowKind, OwnedRowLog } from '../owned-row/index.ts'
import type { CronIndex, MetadataFilter } from '../search/index.ts'
import { afterRecord, changedRecord, createdRecord, lookAt, triggeredRecord,
  unborn } from './cron.ts'
import type { CronChange, CronContent } from './cron.ts'
import { settledRecord } from './firing.ts'
import type { FiringOutcome } from './firing.ts'

/** Name of the actor kind. */
export const cronKindName = 'cron'

/** Members of the commands that change a cron. */
interface CronEdit {
  /**
   * Filter of crons that the caller sees; by default it sees all. In the turn, a cron
   * that does not match is `not_found`. Members of versions before ignore it.
   */
  readonly allowed?: MetadataFilter | undefined
}

/** A command to a cron. All but `delete` and `look` are answered with the cron's row. */
export type CronCommand =
  | { readonly kind: 'create'; readonly content: CronContent }
  | { readonly kind: 'get' }
  | { readonly kind: 'patch'; readonly change: CronChange } & CronEdit
  /** Keeps the id of a run that was made at no due time. */
  | { readonly kind: 'triggered'; readonly runId: string }
  /** Deletes only the cron with this log; any if it is undefined. */
  | { readonly kind: 'delete'; readonly branchId?: string } & CronEdit
  /** Fires a due time. Answered when it is settled; rejected if it must be tried again. */
  | { readonly kind: 'look' }

/** Commands of callers, and those that the cron sends to itself. */
type OwnCommand =
  | CronCommand
  | { readonly kind: 'settle'; readonly firing: Firing; readonly outcome: FiringOutcome }
  | { readonly kind: 'rest' }

/** A due time that is being fired. */
interface Firing {
  readonly dueMs: number
  /** Resolves when the outcome is on disk. */
  readonly settled: PromiseWithResolvers<void>
}

/** Ports of the crons of one member, the same for all of them. */
export interface CronActorParts {
  readonly log: OwnedRowLog
  readonly index: Pick<CronIndex, 'get'>
  /** Makes sure that the run of a due time exists. Throws if that is not known yet. */
  fire(cron: CronRow, dueMs: number): Promise<FiringOutcome>
  /** Looks at all crons that are due by then. */
  wakeAt(atMs: number): void
  readonly env: Pick<Env, 'nowMs' | 'log'>
}

/** All commands and replies are plain data. */
export const cronWire: ActorWire = { values: rawValues }

/** The actor kind of crons. */
export function cronKind(parts: CronActorParts): ActorKind<OwnCommand> {
  return {
    name: cronKindName,
    wire: cronWire,
    create: (context) => new CronActor(context, parts),
  }
}

const rowKind: OwnedRowKind<CronRow> = {
  table: 'cron',
  noun: 'Cron',
  deleted: 'cronDeleted',
  after: afterRecord,
  updateOf: (row) => ({ table: 'cron', row }),
}

class CronActor implements Actor<OwnCommand> {
  readonly #context: ActorContext<OwnCommand>
  readonly #parts: CronActorParts
  readonly #row: OwnedRow<CronRow>
  #firing: Firing | undefined

  constructor(context: ActorContext<OwnCommand>, parts: CronActorParts) {
    this.#context = context
    this.#parts = parts
    const { log, index, env } = parts
    this.#row = new OwnedRow(context, rowKind, { log, index, env,
      written: (row) => this.#wakeAt(row) })
  }

  get occupied(): boolean {
    return this.#firing !== undefined
  }

  activate(): Promise<void> {
    return this.#row.activate()
  }

  async receive(command: OwnCommand, id?: string): Promise<Turn> {
    // A command that was done already is not done again. It is answered with the result.
    if (this.#row.hasApplied(id)) return { reply: this.#row.current }
    if ('allowed' in command) this.#row.seenBy(command.allowed)
    switch (command.kind) {
      case 'create':
        return { reply: await this.#create(command.content, id) }
      case 'get':
        return { reply: this.#row.existing, kind: 'read' }
      case 'patch': {
        const row = this.#row.existing
        const record = changedRecord(row, command.change, this.#parts.env.nowMs())
        return { reply: await this.#write(row, record, id) }
      }
      case 'triggered': {
        const row = this.#row.existing
        const record = triggeredRecord(command.runId, this.#parts.env.nowMs())
        return { reply: await this.#write(row, record, id) }
      }
      case 'delete':
        return { reply: await this.#delete(command.branchId, id) }
      case 'look':
        await this.#followClock()
        return { reply: this.#look() }
      case 'settle':
        return { reply: await this.#settle(command.firing, command.outcome) }
      case 'rest':
        return { reply: this.#context.sleep() }
    }
  }

  /** Gives up the firing under way: the next owner fires again, as the same run. */
  passivate(): Promise<void> {
    this.#firing?.settled.reject(new HeddleError('not_owner'))
    this.#firing = undefined
    return Promise.resolve()
  }

  async #create(content: CronContent, commandId: string | undefined) {
    // The id is new, or made from a key that was sent before.
    const { current } = this.#row
    if (current !== null) return current
    const { tenant, id: cronId } = this.#context.key
    const { log, env } = this.#parts
    const branch = { id: log.newBranchId(), ancestors: [] }
    const record = createdRecord(cronId, content, env.nowMs())
    return this.#write(unborn({ tenant, cronId, branch }), record, commandId)
  }

  #delete(branchId: string | undefined, commandId: string | undefined): Promise<void> {
    const atMs = this.#parts.env.nowMs()
    return this.#row.delete({ $case: 'cronDeleted', value: { atMs } }, branchId, commandId)
  }

  /** Follows a clock that was ahead and has gone back: skipped due times are still to come. */
  async #followClock(): Promise<void> {
    const row = this.#row.current
    if (this.#firing || row === null) return
    const look = lookAt(row, this.#parts.env.nowMs())
    if (look.kind === 'move') await this.#write(row, look.record)
  }

  /** Fires a due time, unless that is being done. Resolves when it is settled. */
  #look(): Promise<void> {
    if (this.#firing) return this.#firing.settled.promise
    const row = this.#row.current
    const look = row && lookAt(row, this.#parts.env.nowMs())
    if (look?.kind !== 'fire') {
      // The clock may have gone back since it was found due.
      if (row !== null) this.#wakeAt(row)
      this.#context.notify({ kind: 'rest' })
      return Promise.resolve()
    }
    const { dueMs } = look
    const firing = { dueMs, settled: Promise.withResolvers<void>() }
    this.#firing = firing
    // Nobody may be left who waits for it.
    firing.settled.promise.catch(() => {})
    this.#parts.fire(row!, dueMs).then(
      (outcome) => this.#context.notify({ kind: 'settle', firing, outcome }),
      (error: unknown) => this.#fired(firing, error),
    )
    return firing.settled.promise
  }

  async #settle(firing: Firing, outcome: FiringOutcome): Promise<void> {
    if (this.#firing !== firing) return
    const row = this.#row.current
    try {
      if (row !== null) {
        const record = settledRecord(row, firing.dueMs, outcome, this.#parts.env.nowMs())
        await this.#write(row, record)
        this.#report(firing.dueMs, outcome, record.$case)
      }
      this.#fired(firing)
    } catch (error) {
      this.#fired(firing, error)
      throw error
    }
  }

  /** Ends a firing, with an error if it must be repeated. */
  #fired(firing: Firing, error?: unknown): void {
    if (this.#firing !== firing) return
    this.#firing = undefined
    if (error === undefined) firing.settled.resolve()
    else firing.settled.reject(error)
    this.#context.notify({ kind: 'rest' })
  }

  #report(dueMs: number, outcome: FiringOutcome, written: string): void {
    if (outcome.kind === 'fired' || outcome.kind === 'skipped') return
    if (written === 'cronPostponed') return
    const { key } = this.#context
    const message = written === 'cronStopped'
      ? 'A cron was disabled, as what it fires for is gone.'
      : 'A cron has no run at a due time, as the run was refused.'
    const due = new Date(dueMs).toISOString()
    this.#parts.env.log.warn(message, { key, due, reason: outcome.reason })
  }

  #write(row: CronRow, record: RecordOf, commandId?: string): Promise<CronRow | null> {
    return this.#row.write(row, { record, next: afterRecord(row, record), commandId })
  }

  #wakeAt({ wakeMs }: CronRow): void {
    if (wakeMs > 0) this.#parts.wakeAt(wakeMs)
  }
}
