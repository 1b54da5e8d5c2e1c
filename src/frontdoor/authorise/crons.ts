/** Operations on crons, as a caller may do them. */

import type { CronRow, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { limitConcurrency } from '../../../cluster/index.ts'
import type { CountCrons, CreateCron, PatchCron, PreviewCron,
  SearchCrons } from '../../api/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { MetadataFilter } from '../../search/index.ts'
import type { Operations, RunCaller } from '../operations/index.ts'
import { ownKey } from './admit-run.ts'
import type { Ask, AskedValue } from './ask.ts'
import type { Asking } from './asking.ts'
import type { AdmitAssistant } from './run-assistant.ts'
import type { AllowedRuns } from './runs.ts'
import { isSeen, requireSeen } from './seen.ts'
import { shownBody } from './shown-body.ts'

/** A cron whose newest outcome is known, and its run; undefined if there is none any more. */
export interface LastRun {
  readonly cron: CronRow
  readonly run: RunRow | undefined
}

/** Crons that are read at once. */
const atOnce = 8

type Metadata = Record<string, unknown>

/** Parts that operations on crons are made of. */
export interface AllowedCronParts extends Pick<Operations, 'crons' | 'threads'> {
  readonly admitAssistant: AdmitAssistant
  readonly runs: AllowedRuns
}

/** Operations on crons. Each asks the login of its caller first, if there is one. */
export class AllowedCrons {
  readonly #crons: Operations['crons']
  readonly #threads: Operations['threads']
  readonly #admitAssistant: AdmitAssistant
  readonly #runs: AllowedRuns
  readonly #ask: Ask

  constructor({ crons, threads, admitAssistant, runs }: AllowedCronParts, ask: Ask) {
    this.#crons = crons
    this.#runs = runs
    this.#threads = threads
    this.#admitAssistant = admitAssistant
    this.#ask = ask
  }

  /** Its runs go as the caller. */
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

  /** Its runs go as the caller from then on if the caller changes what they are requested with. */
  async patch(caller: Asking, cronId: string, body: PatchCron,
    by?: Pick<RunCaller, 'userId'>): Promise<CronRow> {
    const { login, user } = caller
    const changer = login ? { user, userId: user?.identity } : { userId: by?.userId }
    const { value, filter } = await this.#ask(caller, 'crons:update', { cron_id: cronId,
      ...bodyOf(body), metadata: body.metadata })
    await this.#requireCron(caller, cronId, filter)
    return await this.#crons.patch(caller.tenant, cronId, { ...body,
      metadata: value['metadata'] as Metadata | undefined }, { allowed: filter, ...changer })
  }

  preview(_caller: Asking, request: PreviewCron): readonly number[] {
    return this.#crons.preview(request)
  }

  /** As who may change the cron. The run itself is asked for as the user of the cron. */
  async trigger(caller: Asking, cronId: string, commandId: string): Promise<RunRow> {
    const { filter } = await this.#ask(caller, 'crons:update', { cron_id: cronId })
    return await this.#crons.trigger(caller.tenant, cronId, ownKey(caller, commandId),
      (row) => requireSeen(filter, row, () => cronNotFound(cronId)))
  }

  /** The newest outcomes of those crons that the caller may see, and that have one. */
  async lastRuns(caller: Asking, cronIds: readonly string[]): Promise<readonly LastRun[]> {
    const inTurn = limitConcurrency(atOnce)
    const found = await Promise.all(
      [...new Set(cronIds)].map((cronId) => inTurn(() => this.#lastRun(caller, cronId))),
    )
    return found.filter((each) => each !== undefined)
  }

  async #lastRun(caller: Asking, cronId: string): Promise<LastRun | undefined> {
    const cron = await this.get(caller, cronId).catch(ignoreNotFound)
    if (cron === undefined || cron.lastMs === 0) return undefined
    const { lastRunId: runId, threadId } = cron
    const run = runId === ''
      ? undefined
      : await this.#runs.get(caller, { threadId: threadId || runId, runId }).catch(ignoreNotFound)
    return { cron, run }
  }

  async delete(caller: Asking, cronId: string): Promise<void> {
    const { filter } = await this.#ask(caller, 'crons:delete', { cron_id: cronId })
    await this.#requireCron(caller, cronId, filter)
    await this.#crons.delete(caller.tenant, cronId, filter)
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
