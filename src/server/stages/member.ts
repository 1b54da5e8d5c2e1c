/** The member that a server is: its actors, its platform and its deployments. */

import type { Env } from '../../../cluster/index.ts'
import { findRecorded } from '../../deployment/index.ts'
import { graphHosts, memoryMb } from '../../graph/index.ts'
import type { RateLimit } from '../../limits/index.ts'
import { catalogClient, deletionClient, experimentClient, openPlatform,
  ruleClient } from '../../platform/index.ts'
import type { DeletionClient, ExperimentClient, Platform,
  RuleClient } from '../../platform/index.ts'
import type { Settings } from '../../settings/index.ts'
import { createThreadClient } from '../../thread/index.ts'
import { openActors } from '../actors.ts'
import type { Base } from './base.ts'
import { deployedSettings } from '../deployments/deployed-settings.ts'
import { openDeployments } from '../deployments/open-deployments.ts'
import type { graphConfigOf } from '../graph-config.ts'
import { removeGoneTraces } from '../own-traces/gone-traces.ts'
import { ownViews } from '../own-traces/own-views.ts'
import { runningRuns } from '../own-traces/running-runs.ts'
import { countRemovedSpans } from '../readings.ts'
import { assistantsPort } from '../evaluation/assistants-port.ts'
import { rulePort } from '../evaluation/rule-port.ts'
import type { StartStage } from './stages.ts'
import { tracedSteps } from '../traced-steps.ts'

/**
 * Age at which rules read the ends of spans. Clocks of several members differ, so theirs is longer.
 */
const ruleLagMs = { one: 2_000, many: 5_000 } as const

/** Inputs of a member. */
export interface MemberOptions {
  readonly settings: Settings
  readonly env: Env
  readonly base: Base
  readonly rows: readonly RateLimit[]
  readonly assistantDefaults: ReturnType<typeof graphConfigOf>['defaults']
  readonly start: StartStage
}

/** A member whose runs have not begun. */
export type Member = Awaited<ReturnType<typeof openMember>>

/** Opens the actors, the platform and the deployments, which need each other in this order. */
export async function openMember(options: MemberOptions) {
  const { settings, env, base, start } = options
  const { graphs: { host }, later, reads, ownRuns, backend, secretsKeys } = base
  const settingsOf = deployedSettings({ deployed: later.graphs, wayOut: base.waysOut.webhooks,
    own: { egress: base.egress, hasApp: () => base.graphs.http()?.app !== undefined,
      itemSettings: base.graphs.itemSettings, timeToLive: base.graphs.timeToLive },
    variablesOf: (namespace) => deployments.variablesOf(namespace) })
  let opened: Platform | undefined
  const actors = await start('actors',
    () => startActors(options, { settingsOf, platform: () => opened }),
    async (actors, deadline) => {
      await actors.close(deadline)
      await base.waysOut.close()
    })
  const rules = ruleClient(actors.router, env)
  const deletions = deletionClient(actors.router, env)
  const experiments = experimentClient(actors.router, env)
  const platform = await start('platform',
    () =>
      startPlatform(options, actors, { rules, deletions, experiments, platform: () => opened,
        egress: settingsOf.egress }), async (platform) => {
    opened = undefined
    await ownRuns?.close()
    await platform.close()
  })
  opened = platform
  ownRuns?.handOverTo(platform)
  const steps = tracedSteps(platform)
  host.useTraces(steps)
  const deployments = await start('deployments',
    () =>
      openDeployments({ settings, env, backend, platform, secretsKeys, graphs: host, later, reads,
        memoryMb: memoryMb(), router: actors.router, items: actors.items, runs: actors.runs,
        owns: actors.owns }), ({ close }) => close())
  return { actors, rules, deletions, experiments, platform, steps, deployments,
    egress: settingsOf.egress }
}

type Actors = Awaited<ReturnType<typeof openActors>>

/** The platform, once it is open: actors and it need each other. */
type LaterPlatform = () => Platform | undefined

function startActors({ settings, env, base, rows, assistantDefaults }: MemberOptions,
  { settingsOf, platform }: { readonly settingsOf: ReturnType<typeof deployedSettings>;
    readonly platform: LaterPlatform }): Actors {
  const { watchers, graphs: { host }, ownRuns, tracesSteps } = base
  return openActors(base.backend, { ...watchers, host,
    keysOfRuns: { runKeys: base.runKeys, forAll: settings.auth === 'keys' },
    deployed: base.later.graphs, rows, egress: settingsOf.egress, reads: base.reads,
    billing: settings.billing, quarantine: base.quarantine, quotas: settings.quotas,
    assistantDefaults, itemSettings: settingsOf.itemSettings,
    agentTools: new Set(settings.agents?.tools), defaultTimeToLive: settingsOf.timeToLive,
    ruleEngine: () => platform()?.ruleEngine, deletionEngine: () => platform()?.deletionEngine,
    experimentEngine: () => platform()?.experimentEngine,
    runsGone: removeGoneTraces({ ownRuns, platform, env, tracesSteps,
      deploymentOf: async (namespace) => (await findRecorded(base.later.serving, namespace))?.id }),
    ...ownRuns && { runsEnded: (runs, repeated) => ownRuns.ended(runs, repeated) } })
}

function startPlatform({ settings, env, base }: MemberOptions, actors: Actors,
  { rules, deletions, experiments, platform, egress }: { readonly rules: RuleClient;
    readonly deletions: DeletionClient; readonly experiments: ExperimentClient;
    readonly platform: LaterPlatform;
    readonly egress: ReturnType<typeof deployedSettings>['egress'] }): Platform {
  const { backend, ownRuns, secretsKeys, watchers: { metrics } } = base
  const threads = createThreadClient({ router: actors.router, env, reads: base.reads,
    threads: backend.everybody.threads, newThreadId: env.uuid })
  return openPlatform({
    store: backend.spans,
    catalogs: catalogClient(actors.router),
    env,
    egress: base.waysOut.modelsWayOut,
    localModels: settings.localModels,
    ...secretsKeys && { secretsKeys },
    handles: settings.hubHandle,
    modelQuota: settings.modelQuota,
    own: { ...ownViews(threads), runningRuns: ownRuns === undefined
      ? async () => []
      : runningRuns({ runs: backend.runs, threads, projects: () => platform()?.projects }) },
    rules: { client: rules, lagMs: ruleLagMs[settings.cassandra === null ? 'one' : 'many'],
      port: rulePort({ egress, graphs: graphHosts(base.graphs.host, base.later.graphs),
        runs: actors.runs }) },
    deletions,
    experiments: { client: experiments,
      assistants: assistantsPort({ runs: actors.runs,
        graphs: graphHosts(base.graphs.host, base.later.graphs) }) },
    onRemoval: countRemovedSpans(metrics),
    ...ownRuns && { settled: () => ownRuns.settled() },
  })
}
