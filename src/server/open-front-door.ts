/** Builds the front door of a member, from the settings and the parts of the member. */

import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { ActorKey, Env, Service, Tracing } from '../../cluster/index.ts'
import { TenantKeys } from '../access/index.ts'
import type { RunKeys } from '../access/index.ts'
import { assistantClient } from '../assistants/index.ts'
import { cronClient } from '../crons/index.ts'
import { addressReader, cardSigner, deploymentGate, fromProxies, fromUserProxies, limitGate,
  buildFrontDoor } from '../frontdoor/index.ts'
import type { AuthOptions, BuiltFrontDoor, FrontDoor, FrontDoorOptions, MemberDetails,
  WebhookCheck } from '../frontdoor/index.ts'
import type { AppUser, DeployedGraphs, GraphHost } from '../graph/index.ts'
import { readLongJson } from '../json/index.ts'
import type { LimitUseAnswer, LimitUseQuestion, RateLimit, ReadQuota,
  RefusedCallers } from '../limits/index.ts'
import type { Platform } from '../platform/index.ts'
import { ownVersion, readSettingFile, regions } from '../settings/index.ts'
import type { AssistantDefaults, Settings } from '../settings/index.ts'
import { createThreadClient } from '../thread/index.ts'
import type { Actors } from './actors.ts'
import type { Backend } from './backends/backend.ts'
import { dependenciesOf } from './backends/dependencies.ts'
import { askMember, askMembers } from './member-questions.ts'
import type { Metrics } from './metrics/metrics.ts'
import { portError } from './port-error.ts'
import type { PortRequest } from './port-error.ts'
import { threadPlace } from './thread-place.ts'
import { countRequests, readDoor, readKeys, readQuotas } from './readings.ts'

/** Parts of the member that its front door uses. */
export interface DoorParts {
  readonly env: Env
  readonly metrics: Metrics
  /** Undefined if there is no collector. */
  readonly tracing?: Tracing
  readonly runKeys: RunKeys<AppUser>
  readonly assistantDefaults: ReadonlyMap<string, AssistantDefaults>
  readonly backend: Backend
  readonly graphs: GraphHost
  /** The graphs of deployments; undefined for a server without them. */
  readonly deployed?: DeployedGraphs
  /** The login that the server's own project names. */
  readonly projectAuth?: FrontDoorOptions['projectAuth']
  /** Groups of routes that the server's own project turns off. */
  readonly disabledRoutes?: FrontDoorOptions['disabledRoutes']
  /** Settings below `http` of the server's own project. */
  readonly projectHttp?: FrontDoorOptions['projectHttp']
  /** The components of the server's own project. */
  readonly components?: FrontDoorOptions['components']
  readonly actors: Pick<Actors, 'router' | 'limits' | 'items'>
  readonly rows: readonly RateLimit[]
  /** The memory that reads share. */
  readonly reads: ReadQuota
  readonly egress: WebhookCheck
  readonly platform: Platform
  /** The deployments; undefined for a server without any. */
  readonly deployments?: FrontDoorOptions['deployments']
  /** Says whether an actor of this member is in memory. */
  readonly activity: Service<ActorKey, boolean>
  /** Callers that limits refused. */
  readonly refused: RefusedCallers
  /** Answers of this member about limits, and about itself. */
  readonly limitUse: Service<LimitUseQuestion, LimitUseAnswer>
  readonly details: Service<unknown, MemberDetails>
}

/** Folder of the web page, which `scripts/studio.mjs` builds. */
const studioFolder = fileURLToPath(new URL('../../dist/studio', import.meta.url))

/** Ports that are tried after the usual one, if the port was not chosen. */
const nextPorts = 100

/**
 * Builds the front door, which blocks the event loop. Its `open` throws HeddleError with a message
 * if a port cannot listen.
 */
export async function buildDoor(settings: Settings, parts: DoorParts): Promise<BuiltFrontDoor> {
  const { host, port, portIsChosen, allowOrigins, allowHosts, trustedProxies, userProxies } =
    settings
  const { metrics, actors: { router, limits, items }, backend, rows, activity, refused, limitUse,
    details, runKeys, ...others } = parts
  const { env } = others
  const addressOf = addressReader(trustedProxies)
  const gate = { clients: limits, addressOf, refused }
  const json = readLongJson(env.log)
  const options: FrontDoorOptions = {
    ...others,
    host,
    port,
    json,
    ...!portIsChosen && { nextPorts },
    streamEnd: settings.streamEnd,
    mcp: settings.mcp,
    agents: await agentsOf(settings),
    ...settings.platformPort !== undefined && { platformPort: settings.platformPort },
    version: ownVersion(),
    addressOf,
    runKeys,
    authTenant: settings.authTenant,
    project: basename(settings.config.replace(/[\\/][^\\/]*\.json$/, '')),
    threads: createThreadClient({ router, threads: backend.everybody.threads, newThreadId: env.uuid,
      reads: others.reads, env, json }),
    assistants: assistantClient(router),
    assistantIndex: backend.everybody.assistants,
    crons: cronClient(router),
    cronIndex: backend.everybody.crons,
    runIndex: backend.runs,
    items,
    region: regionOf(settings),
    dependencies: dependenciesOf(settings, backend, () => limits.check(rows[0]!)),
    placeOf: (tenant, threadId) => threadPlace({ env, backend, activity }, tenant, threadId),
    cluster: { embedded: settings.cassandra === null, shards: backend.ownership.shards,
      status: backend.status, ask: (member) => askMember(parts, details, member, null) },
    received: countRequests(metrics),
    isFromProxy: fromUserProxies(trustedProxies),
    ...allowOrigins.length > 0 && { allowOrigins },
    allowHosts,
    quotas: { limits: settings.quotas, use: (tenant) => backend.everybody.use(tenant) },
    connections: { perAddress: settings.connectionsPerAddress,
      isExempt: fromProxies([...trustedProxies, ...userProxies]) },
    ...settings.auth === 'keys' &&
      { auth: { ...authOf(settings, backend), runKeys, addressOf },
        tenantKeys: new TenantKeys({ table: backend.keys, region: settings.region, env }) },
    ...settings.limits &&
      { limit: limitGate({ rows, ...gate }),
        limits: { rows, addressOf, ask: (question) => askMembers(parts, limitUse, question) } },
    ...others.deployments &&
      { deployments: { ...others.deployments, charge: deploymentGate(gate) } },
    ...settings.metrics === null && { metrics },
    ...settings.studio !== null && { studio: { folder: studioFolder, ...settings.studio } },
  }
  const built = await buildFrontDoor(options)
  return {
    open: () => openDoor(built, settings, parts),
    close: async () => {
      await built.close()
      await json.close()
    },
  }
}

async function openDoor(built: BuiltFrontDoor, settings: Settings,
  { metrics, platform }: DoorParts): Promise<FrontDoor> {
  const door = await built.open().catch((error: unknown) => {
    throw portError(optionsOf(settings, error), error)
  })
  readDoor(metrics, door)
  readQuotas(metrics, () => door.quotaStats(), () => platform.modelQuota.stats())
  if (settings.auth === 'keys') readKeys(metrics, door.keyStats)
  return door
}

/** Throws HeddleError for a key that cannot be read, or cannot sign. */
async function agentsOf({ agents }: Settings): Promise<FrontDoorOptions['agents']> {
  if (agents === null) return null
  const tools = new Set(agents.tools)
  if (agents.key === null) return { tools }
  return { tools, sign: cardSigner(readSettingFile('a2aKey', agents.key)) }
}

/** The port that an error is about: the platform may have one of its own. */
function optionsOf({ host, port, platformPort }: Settings, error: unknown): PortRequest {
  const { port: failed } = error as { readonly port?: number }
  return failed !== undefined && failed === platformPort
    ? { host, port: platformPort, flags: '--platform-' }
    : { host, port, flags: '--' }
}

function regionOf({ inRegion, region, regionUrls }: Settings): FrontDoorOptions['region'] {
  const url = regionUrls[region]
  return inRegion
    ? { name: region, ...url !== '' && { api_url: url }, ...regions[region] }
    : undefined
}

function authOf({ userProxies, region, regionUrls, sessions }: Settings,
  { keys }: Backend): Omit<AuthOptions, 'addressOf'> {
  return { keys, region, regionUrls, sessions, isFromTrustedProxy: fromUserProxies(userProxies) }
}
