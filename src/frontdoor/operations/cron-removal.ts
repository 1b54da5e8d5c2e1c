/** Deletes the crons of what is deleted: an assistant or a thread. */

import { atLatest } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { CronClient } from '../../crons/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { pageBytes } from '../../search/index.ts'
import type { CronFilter, CronSearch } from '../../search/index.ts'

/** Parts with which crons are found and deleted. */
export interface CronRemovalParts {
  readonly crons: CronClient
  readonly cronIndex: CronSearch
  readonly env: Pick<Env, 'log' | 'after'>
}

/** Deletes the crons that match. Resolves when they are gone, or after a while. */
export type RemoveCrons = (filter: CronFilter) => Promise<void>

/** Crons that are deleted at once. */
const pageCrons = 100

/** A search waits for shards that move, which a deletion must not. */
const patienceMs = 1_000

/** A cron that cannot be deleted now is disabled when it is due, as what it fires for is gone. */
export function cronRemoval({ crons, cronIndex, env }: CronRemovalParts): RemoveCrons {
  const removePage = async (filter: CronFilter, limit: number): Promise<number> => {
    const { rows } = await cronIndex.search({ ...filter, sortBy: 'cron_id', sortOrder: 'asc', limit,
      offset: 0, bytes: pageBytes })
    await Promise.all(
      rows.map(({ tenant, cronId }) => crons.delete({ tenant, cronId }).catch(ignoreNotFound)),
    )
    return rows.length
  }
  /** One by one if many at once are too large. */
  const removeSome = async (filter: CronFilter): Promise<boolean> => {
    try {
      return await removePage(filter, pageCrons) === pageCrons
    } catch (error) {
      if (HeddleError.from(error).code !== 'too_large') throw error
      return await removePage(filter, 1) === 1
    }
  }
  const removeAll = async (filter: CronFilter) => {
    try {
      while (await removeSome(filter));
    } catch (error) {
      env.log.warn('Crons of what was deleted are left; they are disabled when they are due.', {
        error,
      })
    }
  }
  return async (filter) => void await atLatest(env, patienceMs, removeAll(filter))
}
