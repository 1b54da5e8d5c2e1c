/** Fires crons: makes the run of a due time, as a request for it would. */

import type { CronRow, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { CreateRun } from '../../api/index.ts'
import { runIdOf } from '../../crons/index.ts'
import type { FiringOutcome } from '../../crons/index.ts'
import { HeddleError, isOwnFailure } from '../../errors.ts'
import type { ErrorCode } from '../../errors.ts'
import type { AppUser, GraphHosts } from '../../graph/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import { runBodyOf, userOfCron } from './cron-request.ts'
import { runOnThread, statelessRun } from './run-request.ts'
import type { RunAssistant } from './run-request.ts'
import type { RunOperations } from './runs.ts'

/** Parts with which the runs of crons are started. */
export interface CronFiringParts {
  readonly threads: Pick<ThreadClient, 'getRun'>
  readonly runs: Pick<RunOperations, 'assistantFor' | 'start'>
  readonly graphs: Pick<GraphHosts, 'isPaused'>
  /** Asks whether the run may be made; by default it may. */
  readonly admitCron?: AdmitCron | undefined
}

/** Asks whether the user of a cron may make its run. Resolves with the body that may be run. */
export type AdmitCron = (cron: CronRow, user: AppUser | undefined,
  body: CreateRun) => Promise<CreateRun>

/** Makes sure that the run of a due time exists. Throws if that cannot be known now. */
export type FireCron = (cron: CronRow, dueMs: number) => Promise<FiringOutcome>

/** Refusals that may end by themselves. */
const passing: ReadonlySet<ErrorCode> = new Set(['full', 'limited', 'over_quota', 'out_of_quota',
  'internal'])

/** Makes a run of a cron at no due time. Throws where a request for the run would be refused. */
export type TriggerCron = (cron: CronRow, runId: string) => Promise<RunRow>

/** Makes runs of crons now. A repeated id finds the run that was made before. */
export function cronTrigger(
  { runs, admitCron }: Pick<CronFiringParts, 'runs' | 'admitCron'>,
): TriggerCron {
  return async (cron, runId) => {
    const { tenant } = cron
    const asked = runBodyOf(cron)
    const assistant = await runs.assistantFor(tenant, asked)
    const user = userOfCron(cron)
    const body = await admitCron?.(cron, user, asked) ?? asked
    return await runs.start(tenant, runOf(cron, body, assistant, { runId, user }))
  }
}

/** Fires crons. A repeated firing finds the run that an earlier one made, by the run's id. */
export function cronFiring({ threads, runs, graphs, admitCron }: CronFiringParts): FireCron {
  const start = async (cron: CronRow, dueMs: number): Promise<FiringOutcome> => {
    const { tenant, cronId, threadId } = cron
    const runId = runIdOf(tenant, cronId, dueMs)
    const asked = runBodyOf(cron)
    const assistant = await runs.assistantFor(tenant, asked).catch(asGone)
    if (assistant === undefined) return { kind: 'gone', reason: 'The assistant is gone.' }
    if (graphs.isPaused(tenant)) return { kind: 'skipped', reason: 'The deployment is paused.' }
    const user = userOfCron(cron)
    const body = await admitCron?.(cron, user, asked) ?? asked
    const run = runOf(cron, body, assistant, { runId, dueMs, user })
    const started = await runs.start(tenant, run)
      .catch((error: unknown) => threadId === '' ? Promise.reject(error as Error) : asGone(error))
    if (started === undefined) return { kind: 'gone', reason: 'The thread is gone.' }
    return { kind: 'fired', runId }
  }
  return async (cron, dueMs) => {
    const { tenant, cronId, threadId } = cron
    const runId = runIdOf(tenant, cronId, dueMs)
    const made = await threads.getRun(tenant, threadId || runId, runId).catch(asGone)
    if (made !== undefined) return { kind: 'fired', runId }
    try {
      return await start(cron, dueMs)
    } catch (error) {
      const { code, message } = HeddleError.from(error)
      // Nothing is known then, so the firing is repeated.
      if (isOwnFailure({ code })) throw error
      return { kind: 'refused', reason: message, mayPass: passing.has(code) }
    }
  }
}

/** The run's id is also its key: of two firings at once, the second gets the run of the first. */
function runOf({ cronId, threadId, onRunCompleted, userId }: CronRow, body: CreateRun,
  assistant: RunAssistant,
  { runId, dueMs, user }: { readonly runId: string; readonly dueMs?: number;
    readonly user: AppUser | undefined }) {
  const caller = { commandId: runId, headers: {}, user, ...userId !== '' && { userId } }
  if (threadId !== '') {
    return { threadId, run: runOnThread(body, assistant, { runId, threadId }, caller) }
  }
  const stateless = { ...body, on_completion: onRunCompleted as 'delete' | 'keep' }
  const run = statelessRun(stateless, assistant, { runId, threadId: runId }, caller)
  if (dueMs === undefined) return { threadId: runId, run }
  return { threadId: runId, run: { ...run, plan: { ...run.plan, due: { cronId, dueMs } } } }
}

function asGone(error: unknown): undefined {
  if (HeddleError.from(error).code !== 'not_found') throw error
}
