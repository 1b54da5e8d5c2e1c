/** The client of crons: one typed call for each command, whichever member owns the cron. */

import type { Router } from '../../cluster/index.ts'
import type { CronRow } from '../../proto/gen/storage/v1/row.ts'
import { asUnread, ignoreNotFound } from '../errors.ts'
import { branchOf, ignoreDeletedByThis } from '../owned-row/index.ts'
import type { MetadataFilter } from '../search/index.ts'
import { cronKindName } from './cron-actor.ts'
import type { CronCommand } from './cron-actor.ts'
import { isSettled } from './cron.ts'
import type { CronChange, CronContent } from './cron.ts'

/** Key of a cron, with its tenant. */
export interface CronName {
  readonly tenant: string
  readonly cronId: string
}

/**
 * Calls crons. Every call throws HeddleError: `not_found` for a cron that does not exist. Calls
 * that change one take `allowed`: in their turn, a cron that does not match this filter is
 * `not_found`.
 */
export interface CronClient {
  /** Makes a cron. If there is one with this id, that is answered. */
  create(cron: CronName, content: CronContent): Promise<CronRow>
  get(cron: CronName): Promise<CronRow>
  patch(cron: CronName, change: CronChange, allowed?: MetadataFilter): Promise<CronRow>
  /** Keeps the id of a run that was made at no due time, as the newest one. */
  triggered(cron: CronName, runId: string): Promise<CronRow>
  delete(cron: CronName, allowed?: MetadataFilter): Promise<void>
  /** True if a due time fires no more, also because there is no such cron. */
  isSettled(cron: CronName, dueMs: number): Promise<boolean>
}

/** The client that asks owners through a router. */
export function cronClient(router: Router): CronClient {
  const ask = ({ tenant, cronId }: CronName, command: CronCommand) =>
    router.ask({ kind: cronKindName, tenant, id: cronId }, command)
  const askRow = async (cron: CronName, command: CronCommand) => await ask(cron, command) as CronRow
  const get = (cron: CronName) => askRow(cron, { kind: 'get' }).catch(asUnread)
  return {
    create: (cron, content) => askRow(cron, { kind: 'create', content }),
    get,
    triggered: (cron, runId) => askRow(cron, { kind: 'triggered', runId }),
    patch: (cron, change, allowed) =>
      askRow(cron, { kind: 'patch', change, ...allowed && { allowed } }),
    delete: async (cron, allowed) => {
      const { id: branchId } = branchOf(await get(cron), cron.cronId)
      await ask(cron, { kind: 'delete', branchId, ...allowed && { allowed } })
        .catch(ignoreDeletedByThis)
    },
    isSettled: async (cron, dueMs) => {
      const row = await get(cron).catch(ignoreNotFound)
      return row === undefined || isSettled(row, dueMs)
    },
  }
}
