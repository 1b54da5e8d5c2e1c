/** The deletions of traces by questions: how they are asked for, watched and cancelled. */

import { FairSemaphore } from '../../../../cluster/index.ts'
import type { Env, Router } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { cautiousClock } from '../../../limits/index.ts'
import type { Calls } from '../../calls/calls.ts'
import type { SpanWrites } from '../../ingest/ingest-call.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import { changeFresh } from '../../records/catalog/fresh-change.ts'
import type { Uuid } from '../../spans/span.ts'
import type { DeletionReads } from './deletable-traces.ts'
import { deletionKindName } from './deletion-actor.ts'
import type { DeletionCommand } from './deletion-actor.ts'
import type { DeletionParts } from './deletion-pass.ts'
import { deletionRecords } from './deletion-records.ts'
import type { DeletionName, DeletionRecords } from './deletion-records.ts'
import { isOpen, nextProgress } from './trace-deletion.ts'
import type { DeletionRequest, TraceDeletion } from './trace-deletion.ts'

/** The deletions of tenants. All methods throw HeddleError; `not_found` for what does not exist. */
export interface Deletions {
  readonly records: DeletionRecords
  /**
   * It goes on after any crash when this resolved. Throws `malformed` for a filter that nobody can
   * read, `full` if too many are open.
   */
  create(tenant: string, request: DeletionRequest): Promise<TraceDeletion>
  /** The newest first. */
  list(tenant: string): Promise<readonly TraceDeletion[]>
  get(tenant: string, id: Uuid): Promise<TraceDeletion>
  /** Deleted traces stay deleted. A deletion that has ended stays as it is. */
  cancel(tenant: string, id: Uuid): Promise<TraceDeletion>
}

/** Wakes the deletions of tenants, whichever member owns them. */
export interface DeletionClient {
  /** Never throws. */
  wake(name: DeletionName, listedMs: number): void
}

/** Parts that deletions are made of. */
export interface DeletionsParts extends Pick<DeletionParts, 'projects'> {
  readonly catalogs: CatalogClient
  readonly client: DeletionClient
  readonly query: () => Pick<Calls<DeletionReads>, 'deletable'>
  readonly ingest: () => Pick<Calls<SpanWrites>, 'remove' | 'arrivalUs'>
  /** Awaited first: then all has arrived that was handed over before. */
  readonly settled: () => Promise<void> | undefined
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs' | 'uuid'>
}

/** Steps of deletions at once on one member. */
const steps = { inAll: 2, each: 1, waiting: 10_000,
  full: 'Too many deletions wait for their turn.' }

/** The client that asks owners through a router. */
export function deletionClient(router: Router, env: Pick<Env, 'log'>): DeletionClient {
  return {
    wake: ({ tenant, id }, listedMs) => {
      const command: DeletionCommand = { kind: 'look', id, listedMs }
      router.ask({ kind: deletionKindName, tenant, id: 'all' }, command)
        .catch((error: unknown) => {
          // The watch over all deletions wakes it again.
          env.log.debug('A deletion of traces could not be woken.', { deletion: id, error })
        })
    },
  }
}

/** The deletions in catalogs, and what their actors work with. */
export function createDeletions(
  parts: DeletionsParts,
): { readonly deletions: Deletions; readonly engine: DeletionParts } {
  const { catalogs, client, query, ingest, settled, env, projects } = parts
  const records = deletionRecords(catalogs, env)
  const get = async (tenant: string, id: Uuid) => {
    const found = await records.get({ tenant, id })
    if (found === undefined) throw new HeddleError('not_found', 'There is no such deletion.')
    return found
  }
  const deletions: Deletions = {
    records,
    create: async (tenant, request) => {
      await query().deletable({ ...request.conditions, tenant, projects: [], order: 'oldest',
        limit: 1, version: 1, arrivedBeforeUs: 0, after: null })
      await settled()
      const name = { tenant, id: env.uuid() }
      const made = await records.add(name, request, await ingest().arrivalUs(null))
      client.wake(name, made.createdMs)
      return made
    },
    list: records.list,
    get,
    cancel: (tenant, id) =>
      changeFresh(async () => {
        const before = await get(tenant, id)
        if (!isOpen(before)) return before
        return await records.save({ tenant, id }, before,
          nextProgress(before, { kind: 'cancel' }, env.nowMs()))
      }),
  }
  return { deletions,
    engine: { records, projects, query, ingest, turns: new FairSemaphore(steps), env,
      cautiousNowMs: cautiousClock(env) } }
}
