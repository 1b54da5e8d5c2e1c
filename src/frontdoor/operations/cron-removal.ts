/** Deletes the crons of what is deleted: an assistant or a thread. */

import type { Env } from '../../../cluster/index.ts'
import type { CronClient } from '../../crons/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import type { CronFilter, CronSearch } from '../../search/index.ts'

/** What finds and deletes crons. */
export interface CronRemovalParts {
  readonly crons: CronClient
  readonly cronIndex: CronSearch
  readonly env: Pick<Env, 'log'>
}

/** Deletes the crons that match. */
export type RemoveCrons = (filter: CronFilter) => Promise<void>

/** Crons that are deleted at once. */
const pageCrons = 100

/** A cron that cannot be deleted now is disabled when it is due, as what it fires for is gone. */
export function cronRemoval({ crons, cronIndex, env }: CronRemovalParts): RemoveCrons {
  const removePage = async (filter: CronFilter) => {
    const { rows } = await cronIndex.search({ ...filter, sortBy: 'cron_id', sortOrder: 'asc',
      limit: pageCrons, offset: 0 })
    await Promise.all(
      rows.map(({ tenant, cronId }) => crons.delete({ tenant, cronId }).catch(ignoreNotFound)),
    )
    return rows.length
  }
  return async (filter) => {
    try {
      while (await removePage(filter) === pageCrons);
    } catch (error) {
      env.log.warn('Crons of what was deleted are left; they are disabled when they are due.', {
        error,
      })
    }
  }
}
