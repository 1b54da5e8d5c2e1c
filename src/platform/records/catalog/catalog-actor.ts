/**
 * The catalog actor: the single writer of the records of one collection of one tenant. A name is
 * taken once.
 *
 * A turn that writes lasts until its row is on disk. So whatever is in memory is durable, and reads
 * are answered from memory. It is no `OwnedRow`: all of its records are in its log, which no row
 * speaks for and which moves to new branches.
 */

import type { Actor, ActorContext, ActorKind, ActorWire, Env,
  Turn } from '../../../../cluster/index.ts'
import type { AppliedCommand } from '../../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../../checkpoint/index.ts'
import { HeddleError } from '../../../errors.ts'
import { cautiousClock } from '../../../limits/index.ts'
import type { CautiousClock } from '../../../limits/index.ts'
import { rawValues } from '../../../json/index.ts'
import { appliedRecords, findApplied, orFail, withApplied } from '../../../owned-row/index.ts'
import { decide, existingRecord } from './catalog-command.ts'
import type { CatalogCommand, ChangingCommand, Decision, DecisionParts } from './catalog-command.ts'
import { CatalogLog } from './catalog-log.ts'
import type { CatalogLogPort } from './log-branch.ts'
import { catalogLimits, madeRecord } from './catalog-record.ts'
import type { CatalogLimits } from './catalog-record.ts'
import { RecordIndex } from './record-index.ts'
import { pageOf } from './record-query.ts'

/** Name of the actor kind. */
export const catalogKindName = 'catalog'

/**
 * Milliseconds for which a caller may use a record that it was answered with, from when it asked. A
 * deletion is answered when that time is over for all callers.
 */
const recordLeaseMs = 1_000

/** Commands from other actors, and one from the catalog itself. */
type OwnCommand = CatalogCommand | { readonly kind: 'shorten' }

/** Ports of the catalogs of one member, the same for all of them. */
export interface CatalogActorParts {
  readonly log: CatalogLogPort
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs' | 'after'>
  readonly limits?: CatalogLimits
}

/** All commands and replies are plain data. */
export const catalogWire: ActorWire = { values: rawValues }

/** The actor kind of catalogs. The id of a catalog is the name of its collection. */
export function catalogKind(ports: CatalogActorParts): ActorKind<OwnCommand> {
  const parts = { ...ports, cautiousNowMs: cautiousClock(ports.env) }
  return {
    name: catalogKindName,
    wire: catalogWire,
    create: (context) => new CatalogActor(context, parts),
  }
}

/** Ports with the clock by which commands are retained, made once because it may not jump. */
interface TimedParts extends CatalogActorParts {
  readonly cautiousNowMs: CautiousClock
}

class CatalogActor implements Actor<OwnCommand> {
  readonly #context: ActorContext<OwnCommand>
  readonly #parts: TimedParts
  readonly #log: CatalogLog
  readonly #index = new RecordIndex()
  #applied: readonly AppliedCommand[] = []
  /** Time of the last answer with a record that a caller may use for a while. */
  #leasedMs: number
  /** Answers of deletions that wait, as functions that reject them. */
  readonly #waiting = new Set<() => void>()

  constructor(context: ActorContext<OwnCommand>, parts: TimedParts) {
    this.#context = context
    this.#parts = parts
    const { key: { tenant, id: collection }, epoch } = context
    const { spareRows } = parts.limits ?? catalogLimits
    this.#log = new CatalogLog({ log: parts.log, tenant, collection, epoch, spareRows })
    // The owner before may have answered until now.
    this.#leasedMs = parts.env.monotonicMs()
  }

  readonly occupied = false

  async activate(): Promise<void> {
    const { records, applied } = await this.#log.open()
    for (const record of records) this.#index.put(record)
    this.#applied = applied
    this.#leasedMs = this.#parts.env.monotonicMs()
  }

  async receive(command: OwnCommand, id?: string): Promise<Turn> {
    switch (command.kind) {
      case 'get':
        if (command.keeps) this.#lease()
        return { kind: 'read', reply: command.ids.flatMap((each) => this.#index.get(each) ?? []) }
      case 'list':
        return { kind: 'read', reply: pageOf(this.#index, command.query, () => this.#turn()) }
      case 'shorten':
        return { reply: await this.#shorten() }
      default: {
        if (command.kind === 'ensure') this.#lease()
        // A command that was done already is not done again.
        const done = findApplied(this.#applied, id) !== undefined
        const reply = done ? this.#resultOf(command) : (await this.#change(command, id)).reply
        return { reply: command.kind === 'delete' ? this.#afterLeases(reply) : reply }
      }
    }
  }

  passivate(): Promise<void> {
    for (const reject of this.#waiting) reject()
    return Promise.resolve()
  }

  async #change(command: ChangingCommand, commandId: string | undefined): Promise<Decision> {
    const decision = decide(command, this.#decisionParts())
    const { saved, deleted } = decision
    if (saved.length === 0 && deleted.length === 0) return decision
    // Commands are retained by this time: a clock that jumps must not make them repeatable.
    const atMs = this.#parts.cautiousNowMs()
    const records: RecordOf[] = [
      ...deleted.map((id) => ({ $case: 'catalogDeleted', value: { id } }) as const),
      { $case: 'catalogSaved', value: { records: [...saved] } },
      ...appliedRecords(commandId, atMs),
    ]
    const seq = await orFail(this.#context, this.#log.append(records))
    for (const id of deleted) this.#index.remove(id)
    for (const record of saved) this.#index.put(record)
    if (commandId !== undefined) {
      this.#applied = withApplied(this.#applied, { id: commandId, seq, atMs })
    }
    if (this.#log.isLong(this.#index)) this.#context.notify({ kind: 'shorten' })
    return decision
  }

  /** Moves the log to a new branch. Several changes may have asked for it: it is done once. */
  async #shorten(): Promise<void> {
    if (!this.#log.isLong(this.#index)) return
    const records = [...this.#index.values()]
    await orFail(this.#context, this.#log.shorten({ records, applied: this.#applied }))
  }

  #decisionParts(): DecisionParts {
    const { env, limits } = this.#parts
    return { index: this.#index, nowMs: env.nowMs(),
      noun: this.#context.key.id.replaceAll('_', ' '), ...limits && { limits } }
  }

  /** Answer for a command that was done before. */
  #resultOf(command: ChangingCommand): unknown {
    switch (command.kind) {
      case 'ensure':
        return command.records.map(({ name }) => this.#index.named(name) ?? renamed())
      case 'create': {
        const { record: { id, name }, ifExists } = command
        const known = ifExists === undefined ? undefined : this.#index.named(name)
        // It may have been deleted since.
        return known ?? this.#index.get(id)
          ?? madeRecord(command.record, this.#parts.env.nowMs())
      }
      case 'change':
        return existingRecord(command.id, this.#decisionParts())
      case 'delete':
        return null
    }
  }

  #lease(): void {
    this.#leasedMs = this.#parts.env.monotonicMs()
  }

  /** The reply, when the leases of all callers have ended. */
  #afterLeases(reply: unknown): unknown {
    const { env } = this.#parts
    const leftMs = this.#leasedMs + recordLeaseMs - env.monotonicMs()
    if (leftMs <= 0) return reply
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        this.#waiting.delete(interrupted)
        stop()
        end()
      }
      const stop = env.after(leftMs, () => settle(() => resolve(reply)))
      // The next owner answers the same command.
      const interrupted = () => settle(() => reject(new HeddleError('not_owner')))
      this.#waiting.add(interrupted)
    })
  }

  /** Gives other work its turn. */
  #turn(): Promise<void> {
    return new Promise((resolve) => this.#parts.env.after(0, resolve))
  }
}

/**
 * Refuses the repetition of a command whose record was renamed. A new command with new ids will do.
 */
function renamed(): never {
  throw new HeddleError('unavailable', 'One of these was deleted or renamed meanwhile: ask again.')
}
