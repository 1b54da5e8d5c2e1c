/** The base of a server: all that it has before it takes part in a cluster. */

import type { Env, Tracing } from '../../../cluster/index.ts'
import { RunKeys } from '../../access/index.ts'
import { withPolicy } from '../../egress/index.ts'
import { ExecutionMarks } from '../../graph/index.ts'
import type { AppUser, Project } from '../../graph/index.ts'
import { ReadQuota } from '../../limits/index.ts'
import { ownVersion } from '../../settings/index.ts'
import type { Settings } from '../../settings/index.ts'
import { Quarantine } from '../../thread/index.ts'
import type { Backend } from '../backends/backend.ts'
import { openCassandraBackend } from '../backends/cassandra-backend.ts'
import { openEmbeddedBackend } from '../backends/embedded-backend.ts'
import { laterServing } from '../deployments/later-serving.ts'
import { meteredLog } from '../metrics/metered-ports.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { OwnRuns } from '../own-traces/own-runs.ts'
import { openGraphs } from './project-graphs.ts'
import { readReads } from '../readings.ts'
import { secretsKeysOf } from '../secrets-keys.ts'
import type { StartStage } from './stages.ts'
import { openWaysOut } from './ways-out.ts'
import { readTracingHeaders } from '../tracing-headers.ts'
import type { OpenTracing } from '../tracing.ts'

/** Receivers of the reports of each part. */
export interface Watchers {
  readonly env: Env
  readonly metrics: Metrics
  /** Undefined if there is no collector. */
  readonly tracing?: Tracing
}

/** Inputs of a base. */
export interface BaseOptions {
  readonly settings: Settings
  readonly env: Env
  readonly metrics: Metrics
  readonly project: Project
  readonly start: StartStage
  /** Ends the process: this member cannot go on. */
  endProcess(reason: string): void
}

/** Store, graphs, way out and quotas of a server. */
export type Base = Awaited<ReturnType<typeof openBase>>

/** Opens the store and the graphs at the same time, and what needs neither. */
export async function openBase(
  { settings, env, metrics, project, start, endProcess }: BaseOptions,
) {
  const { cassandra, dataDirectory } = settings
  const tracing = await start('traces', () => openTracing(settings, env),
    (tracing) => tracing?.close())
  const watchers: Watchers = { env, metrics, ...tracing && { tracing } }
  const marks = cassandra === null ? marksIn(dataDirectory, env) : undefined
  const [backend, graphs] = await Promise.all([
    start('store', () => openBackend(settings, { ...watchers, endProcess }),
      (backend, deadline) => backend.close(deadline)),
    start('graphs', () => openGraphs(project, settings, { env, marks }), ({ close }) => close()),
  ])
  const { host } = graphs
  const secretsKeys = secretsKeysOf(settings, env)
  const runKeys = new RunKeys<AppUser>(env)
  const waysOut = openWaysOut(settings, { env, runKeys, needsKeys: settings.auth === 'keys' })
  const reads = new ReadQuota(env)
  readReads(metrics, reads)
  const tracesSteps = (runId: string) => host.tracesSteps(runId)
  return {
    watchers,
    marks,
    backend,
    graphs,
    secretsKeys,
    waysOut,
    egress: withPolicy(waysOut.webhooks, graphs.webhooks),
    runKeys,
    /** Graphs of deployments, which are served later. */
    later: laterServing(),
    reads,
    quarantine: new Quarantine(env, marks?.left()),
    tracesSteps,
    ownRuns: settings.ownTraces === 'off' ? undefined : new OwnRuns(env, tracesSteps),
  }
}

/** Undefined if the directory cannot be used. The store reports that. */
function marksIn(directory: string, env: Env): ExecutionMarks | undefined {
  try {
    return new ExecutionMarks(directory, env.uuid())
  } catch {
    return undefined
  }
}

async function openBackend(settings: Settings,
  watchers: Watchers & { endProcess(reason: string): void }): Promise<Backend> {
  const { env, metrics, endProcess } = watchers
  const { cassandra, dataDirectory: directory, inRegion, traces } = settings
  const region = inRegion ? settings.region : undefined
  const backend = cassandra === null
    ? await openEmbeddedBackend(directory, env, endProcess, traces)
    : await openCassandraBackend({ settings: cassandra, region, directory, ...watchers })
  return { ...backend, log: meteredLog(backend.log, metrics, env) }
}

/** Starts tracing. Without a collector, not even the library is loaded. */
async function openTracing({ tracing }: Settings, env: Env): Promise<OpenTracing | undefined> {
  if (tracing === null) return undefined
  readTracingHeaders(process.env)
  const { startTracing } = await import('../tracing.ts')
  return startTracing({ ...tracing, version: ownVersion(), instance: env.uuid(), env })
}
