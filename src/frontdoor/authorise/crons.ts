/** Operations on crons, as a caller may do them. */

import type { CronRow } from '../../../proto/gen/storage/v1/row.ts'
import type { CountCrons, CreateCron, PatchCron, SearchCrons } from '../../api/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { MetadataFilter } from '../../search/index.ts'
import type { Operations, RunCaller } from '../operations/index.ts'
import { ownKey } from './admit-run.ts'
import type { Ask, AskedValue } from './ask.ts'
import type { Asking } from './asking.ts'
import type { AdmitAssistant } from './run-assistant.ts'
import { isSeen, requireSeen } from './seen.ts'
import { shownBody } from './shown-body.ts'

type Metadata = Record<string, unknown>

/** Parts that operations on crons are made of. */
export interface AllowedCronParts extends Pick<Operations, 'crons' | 'threads'> {
  readonly admitAssistant: AdmitAssistant
}

/** Operations on crons. Each asks the login of its caller first, if there is one. */
export class AllowedCrons {
  readonly #crons: Operations['crons']
  readonly #threads: Operations['threads']
  readonly #admitAssistant: AdmitAssistant
  readonly #ask: Ask

  constructor({ crons, threads, admitAssistant }: AllowedCronParts, ask: Ask) {
    this.#crons = crons
    this.#threads = threads
    this.#admitAssistant = admitAssistant
    this.#ask = ask
  }

  /** Its runs go as who has made it. */
  async create(caller: Asking, threadId: string | null, body: CreateCron,
    by: RunCaller): Promise<CronRow> {
    const { tenant, login, user } = caller
    if (login === undefined) return await this.#crons.create(tenant, threadId, body, by)
    const { value } = await this.#ask(caller, 'crons:create', { ...bodyOf(body),
      thread_id: threadId, metadata: body.metadata ?? {} })
    await this.#admitAssistant(caller, body.assistant_id)
    if (threadId !== null) {
      const { filter } = await this.#ask(caller, 'threads:read', { thread_id: threadId })
      const view = filter && await this.#threads.get(tenant, threadId, []).catch(ignoreNotFound)
      if (view && !isSeen(filter, view.row)) {
        throw new HeddleError('not_found', `Thread with ID ${threadId} not found.`)
      }
    }
    const asked = { ...body, metadata: value['metadata'] as Metadata }
    return await this.#crons.create(tenant, threadId, asked, { ...by, user, userId: user?.identity,
      commandId: ownKey(caller, by.commandId) })
  }

  async get(caller: Asking, cronId: string): Promise<CronRow> {
    const { filter } = await this.#ask(caller, 'crons:read', { cron_id: cronId })
    const row = await this.#crons.get(caller.tenant, cronId)
    requireSeen(filter, row, () => cronNotFound(cronId))
    return row
  }

  async patch(caller: Asking, cronId: string, body: PatchCron): Promise<CronRow> {
    const { value, filter } = await this.#ask(caller, 'crons:update', { cron_id: cronId,
      ...bodyOf(body), metadata: body.metadata })
    await this.#requireCron(caller, cronId, filter)
    return await this.#crons.patch(caller.tenant, cronId, { ...body,
      metadata: value['metadata'] as Metadata | undefined })
  }

  async delete(caller: Asking, cronId: string): Promise<void> {
    const { filter } = await this.#ask(caller, 'crons:delete', { cron_id: cronId })
    await this.#requireCron(caller, cronId, filter)
    await this.#crons.delete(caller.tenant, cronId)
  }

  async search(caller: Asking, request: SearchCrons,
    cancelled?: AbortSignal): Promise<{ rows: CronRow[]; total: number; nowMs: number }> {
    const allowed = await this.#searched(caller, request)
    return await this.#crons.search(caller.tenant, request, cancelled, allowed)
  }

  async count(caller: Asking, request: CountCrons, cancelled?: AbortSignal): Promise<number> {
    const allowed = await this.#searched(caller, request)
    return await this.#crons.count(caller.tenant, request, cancelled, allowed)
  }

  async #requireCron({ tenant }: Asking, cronId: string,
    filter: MetadataFilter | undefined): Promise<void> {
    if (filter === undefined) return
    requireSeen(filter, await this.#crons.get(tenant, cronId), () => cronNotFound(cronId))
  }

  async #searched(caller: Asking, request: SearchCrons): Promise<MetadataFilter | undefined> {
    const { assistant_id, thread_id, metadata, limit, offset } = request
    const { filter } = await this.#ask(caller, 'crons:search', { assistant_id, thread_id,
      metadata: metadata ?? {}, limit, offset })
    return filter
  }
}

/** The error for a cron that is not there for its caller. */
function cronNotFound(cronId: string): HeddleError {
  return new HeddleError('not_found', `Cron with ID ${cronId} not found.`)
}

/** The body as a handler sees it, without its metadata. */
function bodyOf({ metadata: _, ...body }: CreateCron | PatchCron): AskedValue {
  return shownBody(body)
}
