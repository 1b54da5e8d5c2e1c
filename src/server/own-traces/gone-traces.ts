/** Removes traces and recorded calls of runs of this server that are deleted or rolled back. */

import type { Env } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import { cautiousClock } from '../../limits/index.ts'
import { filedRunOf, tracePlace } from '../../platform/index.ts'
import type { FiledProject, Platform, Project, SpanPlace } from '../../platform/index.ts'
import type { ThreadPorts } from '../../thread/index.ts'
import { ownRunOf } from './own-runs.ts'
import type { OwnRuns } from './own-runs.ts'

/**
 * Time after the end of a run for which spans of it may still come: a thread reports its last runs
 * again for a day, another member may wait for the store, and clients and collectors of
 * OpenTelemetry retry for minutes, or for hours if they have a queue on disk.
 */
const lateMs = 2 * 86_400_000
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
  /** Id of the deployment of a namespace; undefined for the server's own project. */
  readonly deploymentOf: (namespace: string) => Promise<string | undefined>
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs'>
}

interface GonePlatform {
  readonly projects: Pick<Platform['projects'], 'filed'>
  readonly query: Pick<Platform['query'], 'locate' | 'spanIds'>
  readonly ingest: Pick<Platform['ingest'], 'noteRemovedRuns' | 'remove' | 'removeRecordings'>
}

/** Resolves when traces and calls of the runs cannot be found any more. Throws `unavailable`. */
export function removeGoneTraces(
  { ownRuns, platform: open, tracesSteps, deploymentOf, env }: GoneTracesParts,
): NonNullable<ThreadPorts['runsGone']> {
  const nowMs = cautiousClock(env)
  return async (tenant, runs) => {
    if (runs.length === 0) return
    const platform = open()
    if (platform === undefined) throw new HeddleError('unavailable')
    // A run in progress is not handed over, and continues if its deletion fails.
    const takeBack = ownRuns?.forget(runs.filter(isEnded))
    try {
      await platform.ingest.removeRecordings({ tenant, deployment: await deploymentOf(tenant),
        runs: runs.map(({ runId }) => runId) })
      await removeTraces(platform, tenant, runs, (run) =>
        isEnded(run) ? run.updatedAtMs >= nowMs() - lateMs : tracesSteps(run.runId))
    } catch (error) {
      takeBack?.()
      throw error
    }
  }
}

/** Removes the stored traces of the runs, and rejects later writes of the runs that `mayCome`. */
async function removeTraces(platform: GonePlatform, tenant: string, runs: readonly RunRow[],
  mayCome: (run: RunRow) => boolean): Promise<void> {
  // Whether steps are traced may have changed since the attempts.
  const attempts = await attemptsOf(platform, tenant, runs.filter(({ starts = 0 }) => starts > 1))
  const places = await platform.query.locate({ tenant, stored: true,
    ids: [...runs.map(({ runId }) => runId), ...attempts] })
  await platform.ingest.remove({ tenant,
    what: { kind: 'feedback', spans: [...runs.map(({ runId }) => runId), ...attempts] } })
  const known = new Set(places.map(({ id }) => id))
  const late = runs.filter((run) => !known.has(run.runId) && mayCome(run))
  const traces = [...places, ...await comingTraces(platform, tenant, late)]
  if (traces.length === 0) return
  await platform.ingest.remove({ tenant, what: { kind: 'traces', traces } })
}

/**
 * Places of traces that may be written still, by first and by repeated reports. A run
 * without a project gets a note.
 */
async function comingTraces(platform: GonePlatform, tenant: string,
  late: readonly RunRow[]): Promise<readonly SpanPlace[]> {
  let filed = await filedReports(platform, tenant, late)
  const homeless = filed.filter(([, { project, isDeleted }]) => project === undefined && !isDeleted)
  if (homeless.length > 0) {
    const noted = new Set(homeless.map(([{ runId }]) => runId))
    await platform.ingest.noteRemovedRuns({ tenant, runs: [...noted] })
    // A project that was made since had no note to find.
    filed = await filedReports(platform, tenant, late)
  }
  const traces = withProject(filed)
    .map(([{ runId }, { id }]) => tracePlace(tenant, id, runId))
  return [...new Map(traces.map((trace) => [`${trace.project} ${trace.id}`, trace])).values()]
}

/** Returns each run twice: with the project of its first report, and of a repeated report. */
async function filedReports({ projects }: GonePlatform, tenant: string, runs: readonly RunRow[]) {
  if (runs.length === 0) return []
  const reports = [false, true].flatMap((repeated) => runs.map((run) => ({ run, repeated })))
  const filed = await projects.filed(tenant,
    reports.map(({ run, repeated }) => ({ ...filedRunOf(ownRunOf(run)), repeated })), false)
  return reports.map(({ run }, at) => [run, filed[at]!] as const)
}

/** An attempt that went on elsewhere has a trace of its own, whose metadata name the run. */
async function attemptsOf(platform: GonePlatform, tenant: string,
  runs: readonly RunRow[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const [{ runId }, project] of withProject(await filedRuns(platform, tenant, runs))) {
    const filter = `and(eq(metadata_key, "run_id"), eq(metadata_value, "${runId}"))`
    found.push(
      ...await platform.query.spanIds({ tenant, projects: [project], filter, rootsOnly: true,
        order: 'newest', limit: attemptsMax, version: 1 }),
    )
  }
  return found
}

/** Returns the runs with the projects of their traces, without making a project. */
async function filedRuns({ projects }: GonePlatform, tenant: string,
  runs: readonly RunRow[]): Promise<readonly (readonly [RunRow, FiledProject])[]> {
  if (runs.length === 0) return []
  const filed = await projects.filed(tenant, runs.map((run) => filedRunOf(ownRunOf(run))), false)
  return runs.map((run, at) => [run, filed[at]!] as const)
}

function withProject(
  filed: readonly (readonly [RunRow, FiledProject])[],
): readonly (readonly [RunRow, Project])[] {
  return filed.flatMap(([run, { project }]) => project === undefined ? [] : [[run, project]])
}

function isEnded({ status }: RunRow): boolean {
  return status !== 'pending' && status !== 'running'
}
