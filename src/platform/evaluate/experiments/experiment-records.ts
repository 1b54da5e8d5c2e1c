/** The records of experiments, and the list of those that are woken after a restart. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import { collection } from '../../records/catalog/collection.ts'
import type { Records } from '../../records/catalog/collection.ts'
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

/** Prefix of the names of open experiments. One that is over has its id as its name. */
const openName = 'open '

/** The records in catalogs. */
export function experimentRecords(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): ExperimentRecords {
  const experiments = collection(catalogs, env, { name: 'experiment', parse: experimentOf })
  const listed = wakeList(catalogs, env, 'experiment_wake', ({ id }) => id)
  return {
    get: async ({ tenant, id }) => (await experiments.some(tenant, [id]))[0],
    list: async (tenant, { dataset, limit, offset }) =>
      (await experiments.list(tenant, { descending: true, limit: Math.min(limit, keptMax), offset,
        ...dataset !== undefined && { parentIds: [dataset] } })).values,
    requireRoom: async (tenant) => {
      const { total } = await experiments.list(tenant, { limit: 1, nameContains: openName })
      if (total >= openMax) throw tooMany()
    },
    add: async (name, request) => {
      await forgetOldest(experiments, name.tenant)
      // First the list: what is only there is not acknowledged, and does nothing.
      await listed.add(name)
      const made = await addOpen(experiments, name, request)
      if (made !== undefined) return made
      await listed.remove(name)
      throw tooMany()
    },
    save: ({ tenant, id }, before, after) =>
      experiments.change(tenant, id, { body: after, expected: { version: before.version },
        ...!isOpen(after) && { name: id } }),
    listed,
  }
}

/** Names are taken once: an open experiment has one of a few. Undefined if all are taken. */
async function addOpen(experiments: Records<BackgroundExperiment>, { tenant, id }: ExperimentName,
  request: ExperimentRequest): Promise<BackgroundExperiment | undefined> {
  const body = { ...request, ...unbegun }
  for (let no = 0; no < openMax; no++) {
    try {
      return await experiments.create(tenant, { id, name: openName + no, body,
        parentId: request.asked.dataset_id })
    } catch (error) {
      if (HeddleError.from(error).code !== 'exists') throw error
    }
  }
  return undefined
}

/** Leaves room for one more. */
async function forgetOldest(experiments: Records<BackgroundExperiment>,
  tenant: string): Promise<void> {
  const { values, total } = await experiments.list(tenant, { limit: keptMax })
  const ended = values.filter((experiment) => !isOpen(experiment))
  for (const { id } of ended.slice(0, Math.max(0, total + 1 - keptMax))) {
    await experiments.delete(tenant, id).catch(ignoreNotFound)
  }
}

function tooMany(): HeddleError {
  return new HeddleError('full',
    `There may be ${openMax} experiments that go on: wait for one, or cancel one.`)
}
