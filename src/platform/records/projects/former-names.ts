/**
 * Former names of projects: which project had a name until when. A run of this server that is
 * reported late is filed under the project that had the name when the run started, and not under a
 * new project of that name, which would bring back what was deleted. Rule: [former_name].
 */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import { cautiousClock, clocksApartMs } from '../../../limits/index.ts'
import type { Uuid } from '../../spans/span.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import type { CatalogRecord } from '../catalog/catalog-record.ts'
import { collection } from '../catalog/collection.ts'
import { changeFresh } from '../catalog/fresh-change.ts'
import { namedId } from '../catalog/named-id.ts'

/** Project that had a name until it was renamed or deleted. */
export interface FormerHolder {
  readonly project: Uuid
  /** By the wall clock of the member that took the name away. */
  readonly untilMs: number
  /** The same by its cautious clock, which is never later. */
  readonly cautiousMs: number
}

/** Name and start of a run that is filed under a project. */
export interface FiledRun {
  readonly name: string
  readonly startMs: number
  /** True for a run that its thread reports again: it may have been filed before. */
  readonly repeated?: boolean
}

/** Former names of the projects of all tenants. All methods throw HeddleError. */
export interface FormerNames {
  /** Notes that the project has the name until now. Called before the name is taken away. */
  add(tenant: string, name: string, project: Uuid): Promise<void>
  /** Returns the former project of each run, or `undefined` where its name was never taken away. */
  holders(tenant: string, runs: readonly FiledRun[]): Promise<readonly (Uuid | undefined)[]>
}

interface FormerName {
  readonly id: string
  /** Rises with each change. */
  readonly version: number
  readonly holders: readonly FormerHolder[]
  readonly modifiedMs: number
}

/** Milliseconds for which a former name is retained: a run may start a week before it ends. */
const retainedMs = 7 * 86_400_000
/** Projects of one name that are retained, and names that are checked for age with each new one. */
const [holdersMax, checkedNames] = [20, 20]

/** Former names over the catalogs of all tenants. */
export function formerNamesOver(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'monotonicMs' | 'uuid'>): FormerNames {
  const names = collection(catalogs, env, { name: 'project_name', parse: formerNameOf,
    sort: { sortBy: 'modified', descending: false } })
  const cautiousNowMs = cautiousClock(env)
  const isRecent = (ms: number) => ms > cautiousNowMs() - retainedMs
  const removeOld = async (tenant: string) => {
    const { values } = await names.list(tenant, { limit: checkedNames })
    for (const { id } of values.filter(({ modifiedMs }) => !isRecent(modifiedMs))) {
      await names.delete(tenant, id).catch(ignoreNotFound)
    }
  }
  return {
    add: async (tenant, name, project) => {
      await removeOld(tenant)
      const id = namedId('formerName', name)
      await changeFresh(async () => {
        const [before] = await names.some(tenant, [id])
        const holder = { project, untilMs: env.nowMs(), cautiousMs: cautiousNowMs() }
        const others = before?.holders.filter((each) => isRecent(each.cautiousMs)) ?? []
        const body = { version: (before?.version ?? 0) + 1,
          holders: [...others, holder].slice(-holdersMax) }
        if (before !== undefined) {
          return names.change(tenant, id, { body, expected: { version: before.version } })
        }
        return names.create(tenant, { id, body }).catch((error: unknown) => {
          const { code, message } = HeddleError.from(error)
          throw code === 'exists' ? new HeddleError('stale', message) : error
        })
      })
    },
    holders: async (tenant, runs) => {
      const ids = new Map(runs.map(({ name }) => [name, namedId('formerName', name)]))
      const found = await names.some(tenant, [...new Set(ids.values())])
      const byId = new Map(found.map((each) => [each.id, each.holders]))
      const latestMs = cautiousNowMs() + clocksApartMs
      return runs.map((run) => formerHolderOf(byId.get(ids.get(run.name)!) ?? [], run, latestMs))
    },
  }
}

/**
 * Returns the first project that lost the name after the run started. A run that started under a
 * clock ahead, later than `latestMs`, is compared with the wall clock, which was ahead as well. The
 * first report of any other run is compared with the cautious clock, so that a clock that was ahead
 * takes no trace of a later run. A repeated report is compared with the wall clock unless that was
 * ahead, because the run has a trace if it was not deleted.
 */
function formerHolderOf(holders: readonly FormerHolder[], { startMs, repeated }: FiledRun,
  latestMs: number): Uuid | undefined {
  const endOf = ({ untilMs, cautiousMs }: FormerHolder) =>
    startMs > latestMs || (repeated && untilMs <= latestMs) ? untilMs : cautiousMs
  return holders.find((holder) => startMs <= endOf(holder))?.project
}

function formerNameOf({ id, bodyJson, modifiedAtMs }: CatalogRecord): FormerName {
  const body = JSON.parse(bodyJson) as Pick<FormerName, 'version' | 'holders'>
  return { ...body, id, modifiedMs: modifiedAtMs }
}
