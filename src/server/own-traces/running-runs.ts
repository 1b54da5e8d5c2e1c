/** Finds runs that have not ended by their ids, for the traces of this server. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { ignoreNotFound } from '../../errors.ts'
import { filedRunOf } from '../../platform/index.ts'
import type { Projects, QueryNeeds } from '../../platform/index.ts'
import type { RunSearch, RunSearchQuery } from '../../search/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import { ownRunOf } from './own-runs.ts'

/** Runs of a tenant that are looked through: those that run are few. */
const lookedMax = 1_000

/** Milliseconds by which the clock of an owner may differ from the one that made the id. */
const skewMs = 60_000

/** Indexes and threads that runs are found with. */
export interface RunningRunsParts {
  readonly runs: RunSearch
  readonly threads: Pick<ThreadClient, 'getRun'>
  readonly projects: () => Pick<Projects, 'filed'> | undefined
}

/** The runs as the platform asks for them. */
export function runningRuns(
  { runs, threads, projects: open }: RunningRunsParts,
): QueryNeeds['runningRuns'] {
  return async ({ tenant, ids }) => {
    const wanted = new Set(ids.filter((id) => /^.{14}[57]/.test(id)))
    if (wanted.size === 0) return []
    const { rows } = await runs.search({ tenant, status: 'running', limit: lookedMax, texts: [],
      ...madeWithin([...wanted]) })
    const found: RunRow[] = []
    for (const { threadId, runId } of rows.filter((row) => wanted.has(row.runId))) {
      const run = await threads.getRun(tenant, threadId, runId).catch(ignoreNotFound)
      if (run?.status === 'running') found.push(run)
    }
    const own = found.map(ownRunOf)
    const projects = open()
    if (own.length === 0 || projects === undefined) return []
    // The first run of a graph makes its project. A deleted project is not made again.
    const filed = await projects.filed(tenant, own.map(filedRunOf), true)
    return own.flatMap((run, at) => {
      const project = filed[at]?.project?.id
      return project === undefined ? [] : [{ run, project }]
    })
  }
}

/** Creation time of runs with these ids; empty if one of the ids does not contain it. */
function madeWithin(
  ids: readonly string[],
): Pick<RunSearchQuery, 'createdAfterMs' | 'createdBeforeMs'> {
  if (!ids.every((id) => id[14] === '7')) return {}
  const times = ids.map((id) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
  return { createdAfterMs: Math.min(...times) - skewMs,
    createdBeforeMs: Math.max(...times) + skewMs }
}
