/** One member with all that it serves: put together stage by stage, taken apart in reverse. */

import { Activations, actorKeyText, createLifecycle, createRouter, shardOf }
  from '../cluster/index.ts'
import type { ActorKey, ActorKind, Env, Router } from '../cluster/index.ts'
import { ownVersion } from './config.ts'
import type { Settings } from './config.ts'
import { HeddleError } from './errors.ts'
import { narrowed, openEgress } from './egress/index.ts'
import type { Egress } from './egress/index.ts'
import { openFrontDoor, runJson } from './frontdoor/index.ts'
import type { FrontDoor, FrontDoorOptions } from './frontdoor/index.ts'
import { compileProject, readProject, startGraphHost, watchProject } from './graph/index.ts'
import type { GraphHost, Project, RunningGraphHost } from './graph/index.ts'
import { assistantClient, assistantKind } from './records/index.ts'
import { regions } from './region.ts'
import { openCassandraGround } from './server/cassandra-ground.ts'
import { openEmbeddedGround } from './server/embedded-ground.ts'
import type { Ground, Tenants } from './server/ground.ts'
import { ByteBudget, createThreadClient, defaultLimits, threadKind } from './thread/index.ts'

export interface Server {
  /** Undefined where it answers no clients. */
  readonly url: string | undefined
  /** Where the data is. */
  readonly place: string
  /** Who this member is to others; undefined where there are none. */
  readonly member: string | undefined
  /** As the project names them, those that cannot be loaded included. */
  readonly graphs: readonly ServedGraph[]
  /** Ends within the time that the settings give it. Runs cut short resume at the next start. */
  close(): Promise<void>
}

export interface ServedGraph {
  readonly graphId: string
  readonly file: string
  readonly loaded: boolean
}

/** A start that takes longer will not come: a disk hangs, or a graph's own code. */
const startMs = 60_000
/** Another member may be making the tables first, and is waited for. */
const storeStartMs = 240_000

/** The most that each stage takes of the time for ending, in the order in which they end. */
const endingShares =
  { shards: 0.55, door: 0.05, runs: 0.15, actors: 0.1, graphs: 0.05, store: 0.1 } as const

/** What all threads together may remember: of states, and of the events of finished runs. */
const viewsBytes = 256 * 1024 * 1024
const feedsBytes = 64 * 1024 * 1024

/** Of the time that giving shards back may take: then what is under way is cut short. */
const letGoShare = 0.8

/** How many of the threads that a new owner must look at are woken at once. */
const wokenAtOnce = 8

/** Resolves when it serves. Throws HeddleError with a sentence where a setting cannot work. */
export async function openServer(settings: Settings, env: Env,
  mustEnd: (reason: string) => void): Promise<Server> {
  const project = await readProject(settings.config)
  for (const warning of project.warnings) env.log.warn(warning)
  const lifecycle = createLifecycle(env)
  const times = (stage: keyof typeof endingShares) =>
    ({ startMs, stopMs: settings.drainMs * endingShares[stage] })

  const [ground, graphs] = await Promise.all([
    lifecycle.start('store', {
      ...times('store'), ...settings.cassandra !== null && { startMs: storeStartMs },
      start: () => openGround(settings, env, mustEnd),
      stop: (ground, deadline) => ground.close(deadline),
    }),
    lifecycle.start('graphs', {
      ...times('graphs'),
      start: () => openGraphs(project, settings, env),
      stop: (graphs) => graphs.close(),
    }),
  ])
  const { egressProxy: proxy, egressAllow: allowed } = settings
  const wayOut = openEgress({ env, version: ownVersion(), proxy, allowed })
  const egress = narrowed(wayOut, project.webhooks)
  const actors = await lifecycle.start('actors', {
    ...times('actors'),
    start: () => openActors({ ground, host: graphs.host, egress, env }),
    stop: async (actors, deadline) => {
      await actors.close(deadline)
      await wayOut.close()
    },
  })
  await lifecycle.start('runs', {
    ...times('runs'),
    start: () => ground.begin({
      ...actors, letGoMs: settings.drainMs * endingShares.shards * letGoShare,
    }),
    stop: (_, deadline) => graphs.host.drain(deadline),
  })
  const answersClients = settings.cassandra?.member.roles.includes('frontdoor') ?? true
  const door = await lifecycle.start('door', {
    ...times('door'),
    start: () => answersClients ? openDoor(settings, {
      env,
      graphs: graphs.host,
      threads: createThreadClient({
        router: actors.router, threads: ground.everybody.threads, newThreadId: env.uuid, env,
      }),
      assistants: assistantClient(actors.router),
      assistantIndex: ground.everybody.assistants,
      egress,
      region: regionOf(settings),
      checkStore: ground.check,
      clusterStatus: ground.status,
    }) : undefined,
    stop: (door, deadline) => door?.close(deadline),
  })
  // Before the door closes: whoever comes while shards move is brought to their new owners.
  await lifecycle.start('shards', {
    ...times('shards'), start: () => {}, stop: () => ground.giveBack(),
  })
  const served = project.graphs.map(({ graphId, file }) =>
    ({ graphId, file, loaded: graphs.host.describe(graphId) !== undefined }))
  const { place, name: member } = ground
  return { url: door?.url, place, member, graphs: served, close: lifecycle.stop }
}

function regionOf({ inRegion, region }: Settings): DoorParts['region'] {
  return inRegion ? { name: region, ...regions[region] } : undefined
}

function openGround({ cassandra, dataDirectory }: Settings, env: Env,
  mustEnd: (reason: string) => void): Promise<Ground> {
  if (cassandra === null) return openEmbeddedGround(dataDirectory, env)
  return openCassandraGround({ settings: cassandra, directory: dataDirectory, env, mustEnd })
}

interface Graphs {
  readonly host: RunningGraphHost
  close(): Promise<void>
}

async function openGraphs(project: Project, { workers, reload }: Settings, env: Env):
  Promise<Graphs> {
  const compiled = await compileProject(project)
  const host = await startGraphHost({ project: compiled, workers, env })
  const cannotReload = ({ message: reason }: Error) =>
    env.log.error('The changed project cannot be loaded; the one before it goes on.', { reason })
  const stopWatching = !reload ? () => {} : watchProject(env, project, compiled, {
    changed: (_, compiled) => {
      host.reload(compiled).then(() => env.log.info('The project was loaded anew.'), cannotReload)
    },
    failed: cannotReload,
  })
  return {
    host,
    close: async () => {
      stopWatching()
      await host.close()
    },
  }
}

interface Actors extends Pick<Tenants, 'activations' | 'wake'> {
  readonly router: Router
  close(deadline: AbortSignal): Promise<void>
}

interface ActorParts {
  readonly ground: Ground
  readonly host: GraphHost
  readonly egress: Pick<Egress, 'send'>
  readonly env: Env
}

function openActors(parts: ActorParts): Actors {
  const { ground: { ownership, gate, transport }, env } = parts
  const kinds = kindsOver(parts, (key, command) => router.ask(key, command))
  const epochOf = (key: ActorKey) => {
    const owner = ownership.ownerOf(shardOf(actorKeyText(key), ownership.shards))
    return owner?.member === ownership.self ? owner.epoch : undefined
  }
  const activations = new Activations({
    env, kinds, ...gate && { gate }, owns: (key, epoch) => epochOf(key) === epoch,
  })
  const router = createRouter({
    env, ownership, activations, transport, movable: gate !== undefined,
  })
  let closing = false
  const wakeOne = async (key: ActorKey) => {
    const epoch = epochOf(key)
    if (closing || epoch === undefined) return
    try {
      await activations.wake(key, epoch)
    } catch (error) {
      if (!closing) env.log.error('A thread could not be woken.', { key, error })
    }
  }
  return {
    router, activations,
    wake: async (unfinished) => {
      const next = unfinished.values()
      await Promise.all(Array.from({ length: wokenAtOnce }, async () => {
        for (const { tenant, threadId } of next) {
          await wakeOne({ kind: 'thread', tenant, id: threadId })
        }
      }))
    },
    close: (deadline) => {
      closing = true
      return activations.close(deadline)
    },
  }
}

function kindsOver({ ground, host, egress, env }: ActorParts, ask: Router['ask']): ActorKind[] {
  const { log, threads, runs, assistants } = ground
  let executions = 0
  return [
    threadKind({
      log, threads, runs, host, env, ask, egress,
      showRun: (run) => runJson(run),
      limits: defaultLimits,
      views: new ByteBudget(viewsBytes),
      feeds: new ByteBudget(feedsBytes),
      nextExecutionId: () => ++executions,
    }),
    assistantKind({ log, index: assistants, env }),
  ]
}

type DoorParts = Omit<FrontDoorOptions, 'host' | 'port' | 'version' | 'allowOrigins'>

async function openDoor(settings: Settings, parts: DoorParts): Promise<FrontDoor> {
  const { host, port, allowOrigins } = settings
  const named = allowOrigins.length === 0 ? {} : { allowOrigins }
  try {
    return await openFrontDoor({ ...parts, ...named, host, port, version: ownVersion() })
  } catch (error) {
    throw portError(settings, error)
  }
}

/** What is wrong with the port, in a sentence; other errors as they are. */
function portError({ host, port }: Settings, error: unknown): unknown {
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is in use: end what listens there, or choose another ` +
      'with --port (0 takes any that is free).',
    EACCES: `Port ${port} needs rights that this user has not: choose one above 1023 with --port.`,
    EADDRNOTAVAIL: `${host} is no address of this machine: choose another with --host.`,
    ENOTFOUND: `${host} is no address that is known here: choose another with --host.`,
  }
  const sentence = sentences[(error as NodeJS.ErrnoException).code ?? '']
  return sentence ? new HeddleError('unavailable', sentence, {}, { cause: error }) : error
}
