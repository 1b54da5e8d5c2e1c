/** The deployments of a member: their records, what it serves of them, and their roll-outs. */

import { join } from 'node:path'

import type { ActorKey, Env, Router, Service } from '../../../cluster/index.ts'
import { assistantClient } from '../../assistants/index.ts'
import { cronClient } from '../../crons/index.ts'
import { builderOf, buildsOver, deploymentSecretsOver, deploymentsOver, DeploymentUpdates,
  deploymentUse, driveRollouts, keepDeployments, loadedSecretsOf, namespaceParts, openServing,
  rolloutsOver, secretsOf } from '../../deployment/index.ts'
import type { Deployment, Serving } from '../../deployment/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import { fromUserProxies } from '../../frontdoor/index.ts'
import type { FrontDoorOptions } from '../../frontdoor/index.ts'
import { startGraphProcess } from '../../graph/index.ts'
import type { GraphHost } from '../../graph/index.ts'
import { catalogClient, secretsOver } from '../../platform/index.ts'
import type { Platform, SecretsKeys } from '../../platform/index.ts'
import { RevisionCache } from '../../revision/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { ItemStore } from '../../items/index.ts'
import type { ReadQuota } from '../../limits/index.ts'
import { createThreadClient } from '../../thread/index.ts'
import type { Backend } from '../backends/backend.ts'
import type { RunsOfServer } from '../cron-firing.ts'
import { askMembers } from '../member-questions.ts'
import { announcer } from './announcer.ts'
import { buildMembers, buildService } from './build-service.ts'
import { lookAtRollouts } from './rollout-poll.ts'
import type { LaterServing } from './later-serving.ts'
import { lineService, mergedLogs } from './line-service.ts'
import { problemService } from './problem-service.ts'
import { namespaceData } from './namespace-data.ts'
import { revisionReporter, useCounter } from './revision-reports.ts'
import { notServed, RolloutCounts } from './serving-metrics.ts'
import { UpdateWatch, updateService } from './update-watch.ts'
import { trialRuns } from './trial-run.ts'
import { deploymentsKey, rolloutMembers, rolloutServices } from './rollout-service.ts'

/** Parts of the member that deployments need. */
export interface MemberDeploymentParts {
  readonly settings: Settings
  readonly env: Env
  readonly backend: Backend
  readonly router: Router
  readonly platform: Pick<Platform, 'documents' | 'ingest' | 'rules' | 'shares'>
  readonly items: Pick<ItemStore, 'delete'>
  readonly runs: RunsOfServer
  /** The memory that reads share. */
  readonly reads: ReadQuota
  readonly secretsKeys: SecretsKeys | undefined
  /** The host of the server's own project. */
  readonly graphs: GraphHost
  readonly later: LaterServing
  /** MiB of the machine, or of the container. */
  readonly memoryMb: number
  /** True if this member owns an actor. */
  owns(key: ActorKey): boolean
}

/** The deployments of a member, which belong to its server. */
export interface MemberDeployments {
  /** Services for other members. */
  readonly services: readonly Service[]
  /** Options for the front door. */
  readonly door: NonNullable<FrontDoorOptions['deployments']>
  /**
   * Reads the records and drives roll-outs from now on. Call when the router can be asked. Resolves
   * when the records were read, or could not be: that is tried again.
   */
  begin(): Promise<Serving>
  /** The variables of the code of the active revision. */
  variablesOf(namespace: string): Promise<Readonly<Record<string, string>>>
  /** Counts of the roll-outs that this member drove to their end. */
  readonly rolloutsEnded: RolloutCounts
  drain(deadline: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Records are read this often where other members change them. */
const refreshMs = 5_000
/** Previews, removals and old revisions are looked at this often. */
const upkeepMs = 60_000

/** Makes the deployments of a member. Nothing is read before they begin. */
export function openDeployments(parts: MemberDeploymentParts): MemberDeployments {
  const { settings, env, backend, router, platform, secretsKeys, later } = parts
  const catalogs = catalogClient(router)
  const secrets = deploymentSecretsOver(secretsOver(catalogs, secretsKeys, env), env)
  const updates = new DeploymentUpdates(env)
  const note = (id: string) => updates.add(id)
  const records = deploymentsOver({ catalogs, documents: platform.documents, secrets, env,
    noted: note,
    limits: { owners: settings.trustTenants || settings.graphsUsers ? 'any' : 'one' } })
  const owns = () => parts.owns(deploymentsKey)
  const used = deploymentUse({ catalogs, env })
  const self = () => backend.status().member.id
  const serving: Pick<Serving, 'prepare' | 'learn' | 'tally'> = {
    prepare: async (options) => await (await later.opened).prepare(options),
    learn: async (name) => await (await later.opened).learn(name),
    tally: (options) => opened?.tally(options) ?? { ended: 0, failed: 0, deaths: 0 },
  }
  let opened: Serving | undefined
  const look = (name: string) => {
    driver.look(name)
    upkeep.look(name)
  }
  const members = rolloutMembers({ backend, serving, look })
  const { everybody } = backend
  const reporting = { records, secrets, everybody, namespaces: used.namespaces }
  const count = useCounter(reporting)
  const report = revisionReporter(reporting)
  const retention = async (deployment: Deployment) => {
    await secrets.settle(deployment).catch((error: unknown) =>
      env.log.warn('Secrets are not kept for earlier programs now, nor old values removed.', {
        error,
        deployment: deployment.name,
      })
    )
    const use = await count(deployment.name)
    // Revisions whose use cannot be counted are kept.
    if (use !== null) await records.collect(deployment, use)
  }
  const rolloutsEnded = new RolloutCounts()
  const tryOut = trialRuns({ members, runs: parts.runs, env })
  const driver = driveRollouts({ deployments: records, members, self: self(), env, owns, retention,
    tryOut, ended: ({ kind, result }) => rolloutsEnded.add(kind, result),
    report: async (...change) => ({ ...await report(...change) }) })
  const data = namespaceData({ everybody, platform, catalogs, env, items: parts.items,
    threads: createThreadClient({ router, env, reads: parts.reads, threads: everybody.threads,
      newThreadId: env.uuid }), assistants: assistantClient(router), crons: cronClient(router) })
  const upkeep = keepDeployments({ deployments: records, use: used, data, members, owns, retention,
    env, known: () => opened?.all() ?? [] })
  const rollouts = rolloutsOver({ deployments: records, secrets, wake: members.wake, env,
    watch: (name, changed) => opened?.watch(name, changed) ?? (() => {}) })
  const builder = builderOf({ catalogs, documents: platform.documents, records, env, rollouts,
    builds: settings.builds, ignoreAuth: settings.ignoreAuth, allowed: settings.egressAllow,
    directory: settings.dataDirectory, variables: process.env, self: self(),
    isMember: (id) => backend.status().view.some((member) => member.id === id), owns })
  const takeBuild = buildService(builder)
  const lines = lineService(async (...query) => await opened?.lines(...query) ?? [], self())
  const problems = problemService(() => opened?.problems() ?? [], self)
  const updated = updateService(updates)
  const updateWatch = new UpdateWatch({ ...parts, service: updated })
  const ends: (() => void)[] = []
  return {
    services: [...rolloutServices({ serving, look }), lines, updated, takeBuild, problems],
    door: {
      records,
      secrets,
      rollouts,
      builds: buildsOver({ catalogs, documents: platform.documents, records, env,
        members: buildMembers(parts, takeBuild) }),
      serving: {
        all: () => opened?.all() ?? [],
        find: async (name) => await (await later.opened).find(name),
        open: later.graphs.open,
        view: later.graphs.view,
        named: (host) => opened?.named(host),
        learn: serving.learn,
        requireServes: async (name) => await opened?.requireServes(name),
        watch: (...watch) => opened?.watch(...watch) ?? (() => {}),
      },
      announce: announcer({ env, members, learn: serving.learn, self }),
      requested: used.note,
      data: {
        isEmpty: async (deployment) => {
          const namespaces = await used.namespaces(deployment)
          const empty = await Promise.all(namespaces.map((each) => data.isEmpty(each)))
          return empty.every(Boolean)
        },
        remove: ({ name }) => members.wake(name),
      },
      problems: async () => (await askMembers(parts, problems, null)).flat(),
      failing: () => notServed(opened?.problems() ?? []),
      logs: mergedLogs(parts, lines),
      watchUpdates: (...watch) => updateWatch.watch(...watch),
      report,
      use: count,
      domain: settings.deploymentsDomain,
      isFromProxy: fromUserProxies(settings.trustedProxies),
      ownHosts: ownHosts(settings),
      allowedHosts: settings.deploymentsHosts,
    },
    begin: async () => {
      opened = await openServing({
        deployments: records,
        secrets,
        cache: lazyCache(settings, env),
        start: startGraphProcess,
        revisionsDirectory: revisionsIn(settings),
        users: settings.graphsUsers,
        ignoreAuth: settings.ignoreAuth,
        tracedRatio: settings.ownTraces === 'deep' ? settings.ownTracesRatio : undefined,
        env,
        ownHost: parts.graphs,
        member: self(),
        written: note,
        // The only member hears of every change.
        refreshMs: settings.cassandra === null ? null : refreshMs,
        limits: { graphsMemoryMb: settings.graphsMemoryMb ?? Math.floor(parts.memoryMb / 2) },
      })
      later.settle(opened)
      driver.look()
      builder.begin()
      if (settings.cassandra !== null) ends.push(lookAtRollouts({ env, driver, owns }))
      upkeep.look()
      ends.push(env.every(upkeepMs, () => upkeep.look()))
      return opened
    },
    variablesOf: async (namespace) => {
      const serving = await later.opened
      const deployment = await serving.find(namespaceParts(namespace).deployment ?? '')
      const { active, preview, tenant } = deployment
      if (active === null) return {}
      const { env: own } = await records.manifest(await records.revision(deployment, active))
      const original = preview && await serving.find(preview.of).catch(ignoreNotFound)
      return { ...own,
        ...await secretsOf(secrets, { deployment,
          original: original?.tenant === tenant ? original : undefined,
          set: loadedSecretsOf(deployment) }) }
    },
    rolloutsEnded,
    drain: async (deadline) => {
      updates.close()
      await opened?.drain(deadline)
    },
    close: async () => {
      for (const end of ends) end()
      driver.close()
      upkeep.close()
      await builder.close()
      await opened?.close()
    },
  }
}

function revisionsIn({ dataDirectory }: Settings): string {
  return join(dataDirectory, 'revisions')
}

/** The names of the server itself, as far as it knows them. */
function ownHosts({ allowHosts, deploymentsHosts, regionUrls }: Settings): readonly string[] {
  const ofRegions = Object.values(regionUrls).flatMap((url) => URL.parse(url)?.hostname ?? [])
  const own = allowHosts.filter((host) => host !== '*' && !deploymentsHosts.includes(host))
  return [...own, ...ofRegions]
}

/** A cache of revisions whose folder is made when the first revision comes. */
function lazyCache(settings: Settings, env: Env): Pick<RevisionCache, 'hold'> {
  let cache: Promise<RevisionCache> | undefined
  return {
    hold: async (...revision) => {
      cache ??= RevisionCache.open({ directory: revisionsIn(settings),
        bytesMax: settings.revisionsDiskBytes, env })
      // A disk that was full may have room later.
      cache.catch(() => cache = undefined)
      return await (await cache).hold(...revision)
    },
  }
}
