/** The records of experiments, and the list of those that are woken after a restart. */

import type { Env } from '../../../../cluster/index.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import { collection } from '../../records/catalog/collection.ts'
import { openRecords } from '../../records/catalog/open-records.ts'
import { wakeList } from '../../records/catalog/wake-list.ts'
import type { WakeList } from '../../records/catalog/wake-list.ts'
import type { Uuid } from '../../spans/span.ts'
import { experimentOf, isOpen, unbegun } from './background-experiment.ts'
import type { BackgroundExperiment, ExperimentProgress,
  ExperimentRequest } from './background-experiment.ts'

/** An experiment of any tenant. */
export interface ExperimentName {
  readonly tenant: string
  readonly id: Uuid
}

/** A page of the experiments of a tenant. */
export interface ExperimentPage {
  readonly dataset?: Uuid | undefined
  readonly limit: number
  readonly offset: number
}

/** The records of experiments. All methods throw HeddleError. */
export interface ExperimentRecords {
  get(name: ExperimentName): Promise<BackgroundExperiment | undefined>
  /** The newest first. */
  list(tenant: string, page: ExperimentPage): Promise<readonly BackgroundExperiment[]>
  /** Throws `full` if as many are open as may be. */
  requireRoom(tenant: string): Promise<void>
  /** It is found after a crash from when this resolved. `full` if too many are open. */
  add(name: ExperimentName, request: ExperimentRequest): Promise<BackgroundExperiment>
  /** `stale` if it was changed since `before`. */
  save(name: ExperimentName, before: ExperimentProgress,
    after: ExperimentProgress): Promise<BackgroundExperiment>
  /** Open ones of all tenants, and a few that ended lately. */
  readonly listed: WakeList
}

/** Experiments of a tenant that may be open, and that are kept: they are one page. */
export const [openMax, keptMax] = [4, 100]

/** The records in catalogs. */
export function experimentRecords(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): ExperimentRecords {
  const records = collection(catalogs, env, { name: 'experiment', parse: experimentOf })
  const listed = wakeList(catalogs, env, 'experiment_wake', ({ id }) => id)
  const experiments = openRecords<ExperimentProgress, BackgroundExperiment>({ records, listed,
    isOpen, openMax, keptMax,
    full: `There may be ${openMax} experiments that go on: wait for one, or cancel one.` })
  return {
    get: async ({ tenant, id }) => (await records.some(tenant, [id]))[0],
    list: async (tenant, { dataset, limit, offset }) =>
      (await records.list(tenant, { descending: true, limit: Math.min(limit, keptMax), offset,
        ...dataset !== undefined && { parentIds: [dataset] } })).values,
    requireRoom: (tenant) => experiments.requireRoom(tenant),
    add: (name, request) =>
      experiments.add(name, { body: { ...request, ...unbegun },
        parentId: request.asked.dataset_id }),
    save: (name, before, after) => experiments.save(name, before, after),
    listed,
  }
}
