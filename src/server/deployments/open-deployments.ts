/** The deployments of a member: their records, what it serves of them, and their roll-outs. */

import { join } from 'node:path'

import type { ActorKey, Env, Router, Service } from '../../../cluster/index.ts'
import { deploymentSecretsOver, deploymentsOver, driveRollouts, namespaceOf, openServing, reportOf,
  rolloutsOver } from '../../deployment/index.ts'
import type { CountRevisionUse, Deployment, Deployments, ReportRevision, RevisionUse,
  Serving } from '../../deployment/index.ts'
import { fromUserProxies } from '../../frontdoor/index.ts'
import type { FrontDoorOptions } from '../../frontdoor/index.ts'
import { startGraphProcess } from '../../graph/index.ts'
import type { GraphHost } from '../../graph/index.ts'
import { catalogClient, secretsOver } from '../../platform/index.ts'
import type { Platform, SecretsKeys } from '../../platform/index.ts'
import { RevisionCache } from '../../revision/index.ts'
import type { Settings } from '../../settings/index.ts'
import { revisionUse } from '../../thread/index.ts'
import type { Backend } from '../backends/backend.ts'
import type { LaterServing } from './later-serving.ts'
import { lineService, mergedLogs } from './line-service.ts'
import { deploymentsKey, rolloutMembers, rolloutServices } from './rollout-service.ts'

/** Parts of the member that deployments need. */
export interface MemberDeploymentParts {
  readonly settings: Settings
  readonly env: Env
  readonly backend: Backend
  readonly router: Router
  readonly platform: Pick<Platform, 'documents'>
  readonly secretsKeys: SecretsKeys | undefined
  /** The host of the server's own project. */
  readonly graphs: GraphHost
  readonly later: LaterServing
  /** MiB of the machine, or of the container. */
  readonly memoryMb: number
  /** Whether this member owns an actor. */
  owns(key: ActorKey): boolean
}

/** The deployments of a member, which belong to its server. */
export interface MemberDeployments {
  /** What other members ask this one. */
  readonly services: readonly Service[]
  /** What the front door needs. */
  readonly door: NonNullable<FrontDoorOptions['deployments']>
  /**
   * Reads the records and drives roll-outs from now on. Call when the router can be asked. Resolves
   * when the records were read, or could not be: that is tried again.
   */
  begin(): Promise<Serving>
  drain(deadline: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Roll-outs are looked at this often, as a wake-up may be lost. */
const lookMs = 5_000
/** Records are read this often where other members change them. */
const refreshMs = 5_000

/** Makes the deployments of a member. Nothing is read before they begin. */
export function openDeployments(parts: MemberDeploymentParts): MemberDeployments {
  const { settings, env, backend, router, platform: { documents }, secretsKeys, later } = parts
  const catalogs = catalogClient(router)
  const secrets = deploymentSecretsOver(secretsOver(catalogs, secretsKeys, env))
  const records = deploymentsOver({ catalogs, documents, secrets, env })
  const self = () => backend.status().member.id
  const serving: Pick<Serving, 'prepare' | 'learn' | 'tally'> = {
    prepare: async (wish) => await (await later.opened).prepare(wish),
    learn: async (name) => await (await later.opened).learn(name),
    tally: (wish) => opened?.tally(wish) ?? { ended: 0, failed: 0, deaths: 0 },
  }
  let opened: Serving | undefined
  const look = (name: string) => driver.look(name)
  const members = rolloutMembers({ backend, serving, look })
  const count = useCounter(records, backend)
  const report = reporter(records, secrets, backend)
  const driver = driveRollouts({ deployments: records, members, self: self(), env,
    owns: () => parts.owns(deploymentsKey),
    report: async (...change) => ({ ...await report(...change) }),
    retention: async (deployment) => {
      await records.collect(deployment, await count(deployment.name))
    } })
  const rollouts = rolloutsOver({ deployments: records, wake: members.wake, env,
    watch: (name, changed) => opened?.watch(name, changed) ?? (() => {}) })
  const lines = lineService((...query) => opened?.lines(...query) ?? [], self())
  const ends: (() => void)[] = []
  return {
    services: [...rolloutServices({ serving, look }), lines],
    door: {
      records,
      secrets,
      rollouts,
      serving: {
        find: async (name) => await (await later.opened).find(name),
        open: later.graphs.open,
        view: later.graphs.view,
        named: (host) => opened?.named(host),
        learn: serving.learn,
        watch: (...watch) => opened?.watch(...watch) ?? (() => {}),
      },
      logs: mergedLogs(parts, lines),
      report,
      use: count,
      domain: settings.deploymentsDomain,
      isFromProxy: fromUserProxies(settings.trustedProxies),
      ownHosts: settings.allowHosts.filter((host) => host !== '*'),
    },
    begin: async () => {
      opened = await openServing({
        deployments: records,
        secrets,
        cache: lazyCache(settings, env),
        start: startGraphProcess,
        revisionsDirectory: revisionsIn(settings),
        tracedRatio: settings.ownTraces === 'deep' ? settings.ownTracesRatio : undefined,
        env,
        ownHost: parts.graphs,
        member: self(),
        // The only member hears of every change.
        refreshMs: settings.cassandra === null ? null : refreshMs,
        limits: { graphsMemoryMb: settings.graphsMemoryMb ?? Math.floor(parts.memoryMb / 2) },
      })
      later.settle(opened)
      driver.look()
      if (settings.cassandra !== null) ends.push(env.every(lookMs, () => driver.look()))
      return opened
    },
    drain: async (deadline) => await opened?.drain(deadline),
    close: async () => {
      for (const end of ends) end()
      driver.close()
      await opened?.close()
    },
  }
}

function revisionsIn({ dataDirectory }: Settings): string {
  return join(dataDirectory, 'revisions')
}

/** Nothing is made on disk before a first revision comes. */
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

const ownNamespace = ({ tenant, name }: Deployment) => namespaceOf({ tenant, deployment: name })

/** Counts the runs and waiting threads of the owner's own data. */
function useCounter(records: Pick<Deployments, 'get'>, { everybody }: Backend): CountRevisionUse {
  return async (name) => {
    const found = await revisionUse(everybody.threads, ownNamespace(await records.get(name)))
    const use = new Map<string, RevisionUse>()
    for (const revision of new Set([...found?.running.keys() ?? [],
      ...found?.waiting.keys() ?? []])) {
      use.set(revision, { running: found?.running.get(revision) ?? 0,
        waitingThreads: found?.waiting.get(revision) ?? 0 })
    }
    return use
  }
}

function reporter(records: Pick<Deployments, 'revision'>,
  secrets: Pick<ReturnType<typeof deploymentSecretsOver>, 'list'>,
  { everybody }: Backend): ReportRevision {
  return async (deployment, revision) => {
    const { active, id } = deployment
    const [before, use, names] = await Promise.all([
      active === null ? undefined : records.revision(deployment, active),
      revisionUse(everybody.threads, ownNamespace(deployment)),
      secrets.list(id),
    ])
    const waiting = use?.waitingAt.map(({ graphId: graph_id, node, threads }) => ({ graph_id, node,
      threads })
    )
    return reportOf({ before: before?.graphs ?? [], after: revision.graphs, waiting: waiting ?? [],
      wantsEnv: revision.wantsEnv, secretNames: names.map(({ name }) => name) })
  }
}
