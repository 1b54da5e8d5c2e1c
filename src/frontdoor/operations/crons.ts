/** Operations on crons, the same for every wire. */

import { IsUuid } from 'typebox/format'

import type { Env } from '../../../cluster/index.ts'
import type { CronRow, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { CountCrons, CreateCron, CreateRun, PatchCron, PreviewCron,
  SearchCrons } from '../../api/index.ts'
import { cronIdOf, dueTimesMs } from '../../crons/index.ts'
import type { CronClient } from '../../crons/index.ts'
import { HeddleError } from '../../errors.ts'
import { systemAssistantId } from '../../graph/index.ts'
import type { Quotas, ReadQuota } from '../../limits/index.ts'
import { pageBytes } from '../../search/index.ts'
import type { CronFilter, CronSearch, MetadataFilter } from '../../search/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import { requireSimple } from '../schema/validation.ts'
import type { TriggerCron } from './cron-firing.ts'
import { changeBy, changeOf, changesPayload, contentOf, requireShortPayload, runBodyOf,
  timesOf } from './cron-request.ts'
import type { RunCaller } from './run-request.ts'
import { idOfRepeat } from './runs.ts'
import type { RunOperations } from './runs.ts'
import { isThere } from './threads.ts'

/** The part of `OperationParts` that operations on crons use, with those on runs. */
export interface CronOperationParts {
  readonly crons: CronClient
  readonly cronIndex: CronSearch
  readonly threads: Pick<ThreadClient, 'count'>
  readonly runs: Pick<RunOperations, 'check'>
  readonly triggerCron: TriggerCron
  readonly reads: ReadQuota
  readonly env: Env
  readonly quotas: Pick<Quotas, 'within'>
}

/** Operations on crons. Every wire calls the same ones, with the tenant of its caller. */
export class CronOperations {
  readonly #parts: CronOperationParts

  constructor(parts: CronOperationParts) {
    this.#parts = parts
  }

  /** `threadId` is null for a cron whose runs have threads of their own. */
  async create(tenant: string, threadId: string | null, body: CreateCron,
    { commandId, userId, user }: RunCaller): Promise<CronRow> {
    const { crons, env, quotas, threads } = this.#parts
    const { metadata: _, ...run } = body
    const { assistantId } = await this.#parts.runs.check(tenant, run as CreateRun)
    if (threadId !== null && !await isThere(threads, tenant, threadId)) {
      throw new HeddleError('not_found', `Thread with ID ${threadId} not found.`)
    }
    const content = contentOf(body, { assistantId, threadId, userId, user }, env.nowMs())
    const cronId = commandId === '' ? env.uuid() : cronIdOf(tenant, commandId)
    return quotas.within(tenant, { crons: 1 }, () => crons.create({ tenant, cronId }, content))
  }

  get(tenant: string, cronId: string): Promise<CronRow> {
    return this.#parts.crons.get({ tenant, cronId })
  }

  /** `by`: the user who changes it, for whom its runs are if it changes their body. */
  async patch(tenant: string, cronId: string, body: PatchCron,
    { allowed, user, userId }: Pick<RunCaller, 'user' | 'userId' | 'allowed'> = {}
  ): Promise<CronRow> {
    const { crons, env, quotas, runs } = this.#parts
    const row = await crons.get({ tenant, cronId })
    const change = changeOf(body, row, env.nowMs())
    if (change.payloadJson !== undefined && changesPayload(body)) {
      const run = { ...runBodyOf(row), ...JSON.parse(change.payloadJson) as object }
      requireShortPayload(JSON.stringify(run))
      await runs.check(tenant, run)
    }
    return quotas.within(tenant, {},
      () => crons.patch({ tenant, cronId }, changeBy({ user, userId }, change), allowed))
  }

  /** The next times of a schedule. Throws `invalid` for one that is not good, or is never due. */
  preview({ count = 5, ...times }: PreviewCron): readonly number[] {
    const nowMs = this.#parts.env.nowMs()
    const { endTimeMs, ...schedule } = timesOf(times, nowMs)
    return dueTimesMs(schedule, nowMs, count, endTimeMs)
  }

  /**
   * Makes a run of a cron now. A repeated key finds the run of the first request. `requireSeen`
   * throws for a cron that is not there for the caller: the run is made of the row that it gets.
   */
  async trigger(tenant: string, cronId: string, commandId: string,
    requireSeen: (cron: CronRow) => void = () => {}): Promise<RunRow> {
    const { crons, env, triggerCron } = this.#parts
    const cron = await crons.get({ tenant, cronId })
    requireSeen(cron)
    const runId = commandId === '' ? env.uuid7() : idOfRepeat(tenant, `${cronId}\n${commandId}`)
    const run = await triggerCron(cron, runId)
    // The run is there, whether its cron knows it or not.
    await crons.triggered({ tenant, cronId }, run.runId).catch((error: unknown) => {
      env.log.warn('A cron does not know its newest run.', { tenant, cronId, error })
    })
    return run
  }

  /** Deletes a cron. A run that it has made goes on. */
  delete(tenant: string, cronId: string, allowed?: MetadataFilter): Promise<void> {
    return this.#parts.crons.delete({ tenant, cronId }, allowed)
  }

  /**
   * One page, the number of all crons that match, and the server's time. `allowed`: only crons that
   * the caller may see.
   */
  async search(tenant: string, request: SearchCrons, cancelled?: AbortSignal,
    allowed?: MetadataFilter): Promise<{ rows: CronRow[]; total: number; nowMs: number }> {
    const { limit = 10, offset = 0, sort_by, sort_order } = request
    const { cronIndex, env, reads } = this.#parts
    const query = { ...filterOf(tenant, request), allowed, limit, offset,
      sortBy: sort_by ?? 'created_at', sortOrder: sort_order ?? 'desc' }
    const found = await reads.read({ tenant, bytes: pageBytes, cancelled },
      ({ left: bytes }) => cronIndex.search({ ...query, bytes }, cancelled))
    return { ...found, nowMs: env.nowMs() }
  }

  /** As `search`. */
  count(tenant: string, request: CountCrons, cancelled?: AbortSignal,
    allowed?: MetadataFilter): Promise<number> {
    return this.#parts.cronIndex.count({ ...filterOf(tenant, request), allowed }, cancelled)
  }
}

/** An assistant may be named by a graph id, for the graph's own. */
function filterOf(tenant: string,
  { assistant_id: name, thread_id, enabled, metadata }: CountCrons): CronFilter {
  requireSimple('metadata', metadata)
  const assistantId = name == null || IsUuid(name) ? name?.toLowerCase() : systemAssistantId(name)
  return { tenant, assistantId, threadId: thread_id ?? undefined, enabled: enabled ?? undefined,
    metadata: metadata ?? undefined }
}
