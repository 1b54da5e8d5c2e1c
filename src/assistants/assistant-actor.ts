/**
 * The assistant actor: the single writer of one assistant and its versions.
 *
 * A turn that writes lasts until its row is on disk. So whatever is in memory is durable, and reads
 * are answered from memory. Versions are rows of the log, newest last.
 */

import { actorKeyText } from '../../cluster/index.ts'
import type { Actor, ActorContext, ActorKind, ActorWire, Env, Turn } from '../../cluster/index.ts'
import type { AssistantRow, Branch } from '../../proto/gen/storage/v1/row.ts'
import { assert, HeddleError } from '../errors.ts'
import { contains, rawValues } from '../json/index.ts'
import type { ReadAllowance, ReadQuota } from '../limits/index.ts'
import { pageBytes } from '../search/index.ts'
import type { AssistantIndex } from '../search/index.ts'
import { findApplied, withApplied } from './applied-command.ts'
import { appendEntry, branchOf, findVersion, rowsBetween,
  versionsBackwards } from './assistant-log.ts'
import type { AssistantEntry, AssistantLog, AssistantRecord } from './assistant-log.ts'
import { asOf, bornAs, firstVersion, nextVersion, withActive, withVersion } from './assistant.ts'
import type { AssistantChange, AssistantContent } from './assistant.ts'

/** Name of the actor kind. */
export const assistantKindName = 'assistant'

/** A page of versions, newest first. */
export interface VersionQuery {
  readonly limit: number
  readonly offset: number
  /** Filter by containment. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/**
 * A command to an assistant. All but `delete` and `versions` are answered with the assistant's row.
 */
export type AssistantCommand =
  | { readonly kind: 'create'; readonly content: AssistantContent;
    readonly ifExists: 'raise' | 'do_nothing' }
  | { readonly kind: 'get' }
  | { readonly kind: 'patch'; readonly change: AssistantChange }
  | { readonly kind: 'set_latest'; readonly version: number }
  | { readonly kind: 'versions'; readonly query: VersionQuery }
  /** Deletes only the assistant with this log; any if it is undefined. */
  | { readonly kind: 'delete'; readonly branchId?: string }

/** Ports of the assistants of one member, the same for all of them. */
export interface AssistantActorParts {
  readonly log: AssistantLog
  readonly index: Pick<AssistantIndex, 'get'>
  readonly reads: ReadQuota
  readonly env: Env
}

/** All commands and replies are plain data. */
export const assistantWire: ActorWire = { values: rawValues }

/** The actor kind of assistants. */
export function assistantKind(parts: AssistantActorParts): ActorKind<AssistantCommand> {
  return {
    name: assistantKindName,
    wire: assistantWire,
    create: (context) => new AssistantActor(context, parts),
  }
}

class AssistantActor implements Actor<AssistantCommand> {
  readonly #context: ActorContext
  readonly #log: AssistantLog
  readonly #index: Pick<AssistantIndex, 'get'>
  readonly #reads: ReadQuota
  readonly #env: Env
  #row: AssistantRow | null = null

  constructor(context: ActorContext, { log, index, reads, env }: AssistantActorParts) {
    this.#context = context
    this.#log = log
    this.#index = index
    this.#reads = reads
    this.#env = env
  }

  readonly occupied = false

  async activate(): Promise<void> {
    const { tenant, id } = this.#context.key
    const row = await this.#index.get(tenant, id)
    this.#row = row === undefined ? null : await this.#caughtUp(row)
    if (this.#log.shared && this.#row) this.#row = await this.#opened(this.#row)
  }

  async receive(command: AssistantCommand, id?: string, cancelled?: AbortSignal): Promise<Turn> {
    // A command that was done already is not done again. It is answered with the result.
    if (findApplied(this.#row?.applied ?? [], id)) return { reply: this.#row }
    switch (command.kind) {
      case 'create':
        return { reply: await this.#create(command.content, command.ifExists, id) }
      case 'get':
        return { reply: this.#existing() }
      case 'patch':
        return { reply: await this.#patch(command.change, id) }
      case 'set_latest':
        return { reply: await this.#setLatest(command.version, id) }
      case 'versions':
        return this.#readVersions(this.#existing(), command.query, cancelled)
      case 'delete':
        return { reply: await this.#delete(command.branchId, id) }
    }
  }

  follow(): Promise<() => void> {
    return Promise.reject(new HeddleError('unsupported', 'An assistant has nothing to follow.'))
  }

  passivate(): Promise<void> {
    return Promise.resolve()
  }

  async #create(content: AssistantContent, ifExists: 'raise' | 'do_nothing',
    commandId: string | undefined) {
    if (this.#row !== null) {
      if (ifExists === 'do_nothing') return this.#row
      throw new HeddleError('exists', `Assistant ${this.#context.key.id} already exists.`)
    }
    const { tenant, id } = this.#context.key
    const version = firstVersion(content, this.#env.nowMs())
    const branch = { id: this.#log.newBranchId(), ancestors: [] }
    const row = bornAs({ tenant, assistantId: id, branch }, version)
    const record = { $case: 'assistantVersion', value: version } as const
    return this.#write(row, { record, next: row, commandId })
  }

  #patch(change: AssistantChange, commandId: string | undefined) {
    const row = this.#existing()
    const version = nextVersion(row, change, this.#env.nowMs())
    const next = withVersion(row, version)
    const record = { $case: 'assistantVersion', value: version } as const
    return this.#write(row, { record, next, commandId })
  }

  async #setLatest(number: number, commandId: string | undefined) {
    const row = this.#existing()
    const version = await findVersion(this.#log, row, number)
    if (version === undefined) {
      throw new HeddleError('not_found',
        `Assistant version not found: ${number}. The newest is ${row.newestVersion}.`)
    }
    const atMs = this.#env.nowMs()
    const record = { $case: 'assistantLatest', value: { version: number, atMs } } as const
    return this.#write(row, { record, next: withActive(row, version, atMs), commandId })
  }

  #readVersions(row: AssistantRow, query: VersionQuery, cancelled: AbortSignal | undefined): Turn {
    const { tenant } = row
    // Versions are numbered from 1, so none is read only to be skipped.
    if (query.offset >= row.newestVersion) return { reply: [], kind: 'read' }
    const reply = this.#reads.read({ tenant, bytes: pageBytes, cancelled },
      (allowance) => this.#versions(row, query, allowance))
    return { reply, kind: 'read' }
  }

  async #versions(row: AssistantRow, { limit, offset, metadata }: VersionQuery,
    allowance: ReadAllowance) {
    const page: AssistantRow[] = []
    let toSkip = offset
    for await (const version of versionsBackwards(this.#log, row, allowance)) {
      if (metadata !== undefined && !contains(JSON.parse(version.metadataJson), metadata)) continue
      if (toSkip-- > 0) continue
      const { configJson, contextJson, metadataJson } = version
      allowance.keep(configJson.length + contextJson.length + metadataJson.length)
      if (page.push(asOf(row, version)) === limit) break
    }
    return page
  }

  async #delete(branchId: string | undefined, commandId: string | undefined): Promise<void> {
    const row = this.#existing()
    if (branchId !== undefined && branchId !== branchOf(row).id) throw this.#notFound()
    const record = { $case: 'assistantDeleted', value: { atMs: this.#env.nowMs() } } as const
    await this.#write(row, { record, next: null, commandId })
    await this.#orForget(this.#purge(row))
  }

  /** Keeps the new row in memory once the entry is on disk. */
  async #write(row: AssistantRow, entry: AssistantEntry) {
    const { epoch } = this.#context
    this.#row = await this.#orForget(appendEntry(this.#log, epoch, row, entry))
    return this.#row
  }

  /** After a failure it is not known what is stored. The actor fails, and the next one reads it. */
  async #orForget<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work
    } catch (error) {
      this.#context.fail(error)
      throw error
    }
  }

  /** Brings the row up to the log. If the log is ahead, a write was cut off between the two. */
  async #caughtUp(stored: AssistantRow): Promise<AssistantRow | null> {
    const branch = branchOf(stored)
    if (!await this.#lives(branch)) return this.#gone(stored)
    const tail = await this.#log.tail(branch)
    if (tail === undefined) return this.#gone(stored)
    if (tail.seq === stored.seq) return stored
    let row: AssistantRow = { ...stored, epoch: tail.epoch, seq: tail.seq }
    const rows = await rowsBetween(this.#log, branch, stored.seq + 1, tail.seq)
    for (const { records, seq, bytes } of rows) {
      for (const record of records) {
        if (record.$case === 'assistantDeleted') return this.#gone(stored)
        row = await this.#after(row, record, seq)
      }
      row = { ...row, storedBytes: row.storedBytes + bytes }
    }
    return row
  }

  /** The row after a record of row `seq`. */
  async #after(row: AssistantRow, record: AssistantRecord, seq: number): Promise<AssistantRow> {
    switch (record.$case) {
      case 'commandApplied':
        return { ...row, applied: withApplied(row.applied, record.value.commandId, seq) }
      case 'assistantVersion':
        return withVersion(row, record.value)
      case 'assistantLatest': {
        const version = await findVersion(this.#log, row, record.value.version)
        assert(version, `version ${record.value.version} that was made the latest is in the log`)
        return withActive(row, version, record.value.atMs)
      }
      default:
        return row
    }
  }

  /** False if its delete was cut off: the rest of the log may end just where the row says. */
  async #lives(branch: Branch): Promise<boolean> {
    try {
      if (this.#log.shared) await this.#log.open(branch, this.#context.epoch)
      return true
    } catch (error) {
      if (HeddleError.from(error).details.dead !== true) throw error
      return false
    }
  }

  /** Repeats a delete that was cut off. */
  async #gone(stored: AssistantRow): Promise<null> {
    await this.#purge(stored)
    return null
  }

  /** Appends the first row of this epoch, which also brings the assistant's row up to date. */
  async #opened(row: AssistantRow): Promise<AssistantRow | null> {
    const { epoch } = this.#context
    if (row.epoch === epoch) return row
    const record = { $case: 'opened', value: { epoch } } as const
    return appendEntry(this.#log, epoch, row, { record, next: row })
  }

  #purge(row: AssistantRow): Promise<void> {
    const { tenant, assistantId } = row
    const { epoch } = this.#context
    const branch = branchOf(row)
    return this.#log.purge({ table: 'assistant', tenant, id: assistantId, branch, epoch })
  }

  #existing(): AssistantRow {
    if (this.#row === null) throw this.#notFound()
    return this.#row
  }

  #notFound(): HeddleError {
    const { key } = this.#context
    return new HeddleError('not_found', `Assistant with ID ${key.id} not found.`, {
      actor: actorKeyText(key),
    })
  }
}
