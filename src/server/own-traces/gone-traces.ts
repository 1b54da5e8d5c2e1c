/** Removes traces and recorded calls of runs of this server that are deleted or rolled back. */

import type { Env } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import { ownProjectName, tracePlace } from '../../platform/index.ts'
import type { Platform, Project } from '../../platform/index.ts'
import type { ThreadPorts } from '../../thread/index.ts'
import { ownRunOf } from './own-runs.ts'
import type { OwnRuns } from './own-runs.ts'

/** Time in which a run that has ended may be handed over still, by another member perhaps. */
const lateMs = 60_000
/** Attempts of a run whose traces are found. */
const attemptsMax = 100

/** Own runs and platform, from which traces are removed. */
export interface GoneTracesParts {
  /** Missing if own runs are not traced. */
  readonly ownRuns: Pick<OwnRuns, 'forget'> | undefined
  /** Undefined while it is not open. */
  readonly platform: () => GonePlatform | undefined
  /** True if the steps of this run are traced while it runs. */
  readonly tracesSteps: (runId: string) => boolean
  readonly env: Pick<Env, 'nowMs'>
}

interface GonePlatform {
  readonly projects: Pick<Platform['projects'], 'named'>
  readonly query: Pick<Platform['query'], 'locate' | 'spanIds'>
  readonly ingest: Pick<Platform['ingest'], 'remove' | 'removeRecordings'>
}

/** Resolves when traces and calls of the runs cannot be found any more. Throws `unavailable`. */
export function removeGoneTraces(
  { ownRuns, platform: open, tracesSteps, env }: GoneTracesParts,
): NonNullable<ThreadPorts['runsGone']> {
  return async (tenant, runs) => {
    // One that has not ended is not handed over, and goes on if it is not deleted after all.
    ownRuns?.forget(runs.filter(isEnded))
    if (runs.length === 0) return
    const platform = open()
    if (platform === undefined) throw new HeddleError('unavailable')
    await platform.ingest.removeRecordings({ tenant, runs: runs.map(({ runId }) => runId) })
    // Of a run that has not ended only traced steps are stored besides.
    const stored = runs.filter((run) => isEnded(run) || tracesSteps(run.runId))
    if (stored.length === 0) return
    const attempts = await attemptsOf(platform, tenant,
      stored.filter(({ runId, starts = 0 }) => starts > 1 && tracesSteps(runId)))
    const places = await platform.query.locate({ tenant, stored: true,
      ids: [...stored.map(({ runId }) => runId), ...attempts] })
    const known = new Set(places.map(({ id }) => id))
    const late = stored.filter((run) =>
      !known.has(run.runId) && (!isEnded(run) || run.updatedAtMs >= env.nowMs() - lateMs)
    )
    const coming = late.length === 0
      ? []
      : (await projectsOf(platform, tenant, late)).map(([run, { id }]) =>
        tracePlace(tenant, id, run.runId)
      )
    const traces = [...places, ...coming]
    if (traces.length === 0) return
    await platform.ingest.remove({ tenant, what: { kind: 'traces', traces } })
  }
}

/** An attempt that went on elsewhere has a trace of its own, whose metadata name the run. */
async function attemptsOf(platform: GonePlatform, tenant: string,
  runs: readonly RunRow[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const [{ runId }, project] of await projectsOf(platform, tenant, runs)) {
    const filter = `and(eq(metadata_key, "run_id"), eq(metadata_value, "${runId}"))`
    found.push(
      ...await platform.query.spanIds({ tenant, projects: [project], filter, rootsOnly: true,
        order: 'newest', limit: attemptsMax, version: 1 }),
    )
  }
  return found
}

/** The runs with the projects that their traces are in. */
async function projectsOf({ projects }: GonePlatform, tenant: string,
  runs: readonly RunRow[]): Promise<readonly (readonly [RunRow, Project])[]> {
  const names = new Map(runs.map((run) => [run, ownProjectName(ownRunOf(run))]))
  if (names.size === 0) return []
  const known = await projects.named(tenant, [...new Set(names.values())])
  const byName = new Map(known.map((project) => [project.name, project]))
  return [...names].flatMap(([run, name]) => {
    const project = byName.get(name)
    return project === undefined ? [] : [[run, project] as const]
  })
}

function isEnded({ status }: RunRow): boolean {
  return status !== 'pending' && status !== 'running'
}
