/**
 * The assistant actor: the single writer of one assistant and its versions.
 *
 * A turn that writes lasts until its row is on disk. So whatever is in memory is durable, and reads
 * are answered from memory. Versions are rows of the log, newest last.
 */

import type { Actor, ActorContext, ActorKind, ActorWire, Env, Turn } from '../../cluster/index.ts'
import type { AssistantRow } from '../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../checkpoint/index.ts'
import { assert, HeddleError } from '../errors.ts'
import { contains, rawValues } from '../json/index.ts'
import type { ReadAllowance, ReadQuota } from '../limits/index.ts'
import { OwnedRow } from '../owned-row/index.ts'
import type { OwnedRowLog } from '../owned-row/index.ts'
import { pageBytes } from '../search/index.ts'
import type { AssistantIndex, MetadataFilter } from '../search/index.ts'
import { findVersion, versionsBackwards } from './assistant-versions.ts'
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

/** Members of the commands that change an assistant. */
interface AssistantEdit {
  /**
   * Filter of assistants that the caller sees; by default it sees all. In the turn, an assistant
   * that does not match is `not_found`. Members of versions before ignore it.
   */
  readonly allowed?: MetadataFilter | undefined
}

/**
 * A command to an assistant. All but `delete` and `versions` are answered with the assistant's row.
 */
export type AssistantCommand =
  | { readonly kind: 'create'; readonly content: AssistantContent;
    readonly ifExists: 'raise' | 'do_nothing' }
  | { readonly kind: 'get' }
  | { readonly kind: 'patch'; readonly change: AssistantChange } & AssistantEdit
  | { readonly kind: 'set_latest'; readonly version: number } & AssistantEdit
  | { readonly kind: 'versions'; readonly query: VersionQuery }
  /** Deletes only the assistant with this log; any if it is undefined. */
  | { readonly kind: 'delete'; readonly branchId?: string } & AssistantEdit

/** Ports of the assistants of one member, the same for all of them. */
export interface AssistantActorParts {
  readonly log: OwnedRowLog
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
  readonly #log: OwnedRowLog
  readonly #reads: ReadQuota
  readonly #env: Env
  readonly #row: OwnedRow<AssistantRow>

  constructor(context: ActorContext, { log, index, reads, env }: AssistantActorParts) {
    this.#context = context
    this.#log = log
    this.#reads = reads
    this.#env = env
    this.#row = new OwnedRow(context, {
      table: 'assistant',
      noun: 'Assistant',
      deleted: 'assistantDeleted',
      after: (row, record) => this.#after(row, record),
      updateOf: (row) => ({ table: 'assistant', row }),
    }, { log, index, env })
  }

  readonly occupied = false

  activate(): Promise<void> {
    return this.#row.activate()
  }

  async receive(command: AssistantCommand, id?: string, cancelled?: AbortSignal): Promise<Turn> {
    // A command that was done already is not done again. It is answered with the result.
    if (this.#row.hasApplied(id)) return { reply: this.#row.current }
    if ('allowed' in command) this.#row.seenBy(command.allowed)
    switch (command.kind) {
      case 'create':
        return { reply: await this.#create(command.content, command.ifExists, id) }
      case 'get':
        return { reply: this.#row.existing }
      case 'patch':
        return { reply: await this.#patch(command.change, id) }
      case 'set_latest':
        return { reply: await this.#setLatest(command.version, id) }
      case 'versions':
        return this.#readVersions(this.#row.existing, command.query, cancelled)
      case 'delete':
        return { reply: await this.#delete(command.branchId, id) }
    }
  }

  passivate(): Promise<void> {
    return Promise.resolve()
  }

  async #create(content: AssistantContent, ifExists: 'raise' | 'do_nothing',
    commandId: string | undefined) {
    const { current } = this.#row
    if (current !== null) {
      if (ifExists === 'do_nothing') return current
      throw new HeddleError('exists', `Assistant ${this.#context.key.id} already exists.`)
    }
    const { tenant, id } = this.#context.key
    const version = firstVersion(content, this.#env.nowMs())
    const branch = { id: this.#log.newBranchId(), ancestors: [] }
    const row = bornAs({ tenant, assistantId: id, branch }, version)
    const record = { $case: 'assistantVersion', value: version } as const
    return this.#row.write(row, { record, next: row, commandId })
  }

  #patch(change: AssistantChange, commandId: string | undefined) {
    const row = this.#row.existing
    const version = nextVersion(row, change, this.#env.nowMs())
    const next = withVersion(row, version)
    const record = { $case: 'assistantVersion', value: version } as const
    return this.#row.write(row, { record, next, commandId })
  }

  async #setLatest(number: number, commandId: string | undefined) {
    const row = this.#row.existing
    const version = await findVersion(this.#log, row, number)
    if (version === undefined) {
      throw new HeddleError('not_found',
        `Assistant version not found: ${number}. The newest is ${row.newestVersion}.`)
    }
    const atMs = this.#env.nowMs()
    const record = { $case: 'assistantLatest', value: { version: number, atMs } } as const
    return this.#row.write(row, { record, next: withActive(row, version, atMs), commandId })
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

  #delete(branchId: string | undefined, commandId: string | undefined): Promise<void> {
    const record = { $case: 'assistantDeleted', value: { atMs: this.#env.nowMs() } } as const
    return this.#row.delete(record, branchId, commandId)
  }

  /** The row after a record that was read from the log. */
  async #after(row: AssistantRow, record: RecordOf): Promise<AssistantRow> {
    switch (record.$case) {
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
}
