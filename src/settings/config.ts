/**
 * The settings of a server: options win over the environment, the environment over defaults.
 *
 * They are resolved once, at the start; everything else gets what it needs as arguments.
 */

import { dirname, extname, join, resolve } from 'node:path'

import type { AssistantDefaults } from './assistant-defaults.ts'
import { isLoopback } from './ip-address.ts'
import type { IpRange } from './ip-address.ts'
import type { ValueOf } from './known-settings.ts'
import type { QuotaSettings } from './quota-settings.ts'
import type { RegionName } from './region.ts'
import type { UserRange } from './setting-kind.ts'
import { mistakesIn } from './settings-mistakes.ts'
import { SettingsReader } from './settings-reader.ts'
import type { SettingsSource } from './settings-reader.ts'

/** The resolved settings of a server. */
export interface Settings {
  /** Absolute; a langgraph.json or a folder that has one. */
  readonly config: string
  /** 0 for any that is free. */
  readonly port: number
  /** True if the port was set. If not, the server takes the next free port. */
  readonly portIsChosen: boolean
  /** The platform's own port, 0 for any that is free; undefined if it has none. */
  readonly platformPort: number | undefined
  /** Tenants by the name under which they show public prompts. */
  readonly hubHandle: ReadonlyMap<string, string>
  readonly host: string
  /** True if it may listen where others can reach it without authentication. */
  readonly insecureListen: boolean
  /**
   * none  everybody may call
   * keys  callers need an API key, or a session if these are set up
   */
  readonly auth: ValueOf<'auth'>
  /** The tenant of users of the login that the server's own project names. */
  readonly authTenant: string | undefined
  /** Null if users have no sessions. */
  readonly sessions: SessionSettings | null
  /** The URL of each region; empty if not known. */
  readonly regionUrls: Readonly<Record<RegionName, string>>
  /** Absolute. */
  readonly dataDirectory: string
  readonly workers: number
  /** MiB that the graphs of one worker may fill; undefined for a share of the memory. */
  readonly workerHeapMb: number | undefined
  /** MiB of all graph processes of deployments; undefined for half of the memory. */
  readonly graphsMemoryMb: number | undefined
  /** Bytes of unpacked revisions in the data directory. */
  readonly revisionsDiskBytes: number
  /** True if this server builds projects whose files are uploaded. */
  readonly builds: boolean
  /** The variables that graphs see: names, or patterns that end with `*`. */
  readonly graphEnv: readonly string[]
  /** Defaults of the graphs' own assistants, by graph id. */
  readonly graphConfig: ReadonlyMap<string, AssistantDefaults>
  /** False if streams of runs have no event `end`. */
  readonly streamEnd: boolean
  /** False if assistants are no tools of the Model Context Protocol. */
  readonly mcp: boolean
  /** Null if assistants are not served as agents. */
  readonly agents: { readonly tools: readonly string[]; readonly key: string | null } | null
  /** Time that an answer of a login may take, and silence of its thread. */
  readonly appTimeoutMs: number
  readonly drainMs: number
  /** Origins of web pages that may call; empty: those of this machine; `*`: any. */
  readonly allowOrigins: readonly string[]
  /** Names by which callers without keys may call, besides those of this machine; `*`: any. */
  readonly allowHosts: readonly string[]
  /** Deployments answer as `<name>.<domain>`, too; undefined for none. */
  readonly deploymentsDomain: string | undefined
  /** Host names that admins may give to deployments; `*.example.org` for all below one. */
  readonly deploymentsHosts: readonly string[]
  /**
   * Users under whose ids the code of deployments runs; `off` for the user of the server. Undefined
   * for users that a server of root chooses, if it can.
   */
  readonly graphsUsers: UserRange | 'off' | undefined
  readonly trustTenants: boolean
  /** True if projects are served without the `auth` and `http.app` that they name. */
  readonly ignoreAuth: boolean
  /** True if requests are limited. */
  readonly limits: boolean
  /** True if each finished run leaves a billing record. */
  readonly billing: boolean
  /** Absolute; null if the limits are those of the specification. */
  readonly limitOverrides: string | null
  /** Quotas of one tenant; Infinity for any number. */
  readonly quotas: QuotaSettings
  /** Calls and tokens of models for the playground and experiments of one tenant on a day. */
  readonly modelQuota: { readonly calls: number; readonly tokens: number }
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly IpRange[]
  /** Connections that each address may have, that of a proxy excepted. */
  readonly connectionsPerAddress: number
  /** Proxies whose x-user-id and x-tenant-id are believed. */
  readonly userProxies: readonly IpRange[]
  readonly reload: boolean
  readonly region: RegionName
  /** True if the region was set explicitly. */
  readonly inRegion: boolean
  /** Absolute; null if no secrets can be stored. */
  readonly secretsKey: string | null
  /** An http(s) URL: the proxy for webhooks and models. */
  readonly egressProxy: string | undefined
  /** Private addresses, ranges and hosts of webhooks and models. */
  readonly egressAllow: readonly string[]
  /** Origins of programs on this machine that serve models; none if others reach the server. */
  readonly localModels: readonly string[]
  readonly logLevel: ValueOf<'logLevel'>
  /** Null if the front door serves them, to callers on this machine. */
  readonly metrics: { readonly host: string; readonly port: number } | null
  /** Null if there is no collector. */
  readonly tracing: TracingSettings | null
  /** Null if the web page is not served; its API is that of this server if it names none. */
  readonly studio: { readonly apiUrl?: string } | null
  /** Detail in which runs of this server are among the traces of the platform. */
  readonly ownTraces: ValueOf<'ownTraces'>
  /** The share of runs whose steps are traced if these are. */
  readonly ownTracesRatio: number
  /** Share of runs whose calls are recorded, in place of that of langgraph.json. */
  readonly record: string | null
  /** Bytes of traces in the data directory, in all and of a tenant; whether words are indexed. */
  readonly traces: { readonly diskBytes: number; readonly tenantBytes: number;
    readonly indexesWords: boolean }
  /** Null if everything is stored in the data directory. */
  readonly cassandra: CassandraSettings | null
}

/**
 * Sampling of traces. The exporter itself reads the address and headers of the collector from the
 * environment.
 */
export interface TracingSettings {
  /** The share of traces that begin here and are kept: from 0 to 1. */
  readonly ratio: number
}

/** Issuer, audience and keys by which sessions of users are verified. */
export interface SessionSettings {
  readonly issuer: string
  /** Empty if any audience is accepted. */
  readonly audience: string
  /** A JSON web key set: an absolute path or a URL. */
  readonly keys: string
}

/** Hosts, login and commit mode of the Cassandra cluster that stores threads. */
export interface CassandraSettings {
  /** Names or addresses, with `:port` if it is not 9042. */
  readonly contactPoints: readonly string[]
  readonly localDataCenter: string
  readonly keyspace: string
  /** Empty without authentication. */
  readonly user: string
  readonly password: string
  /** File from which the password is read again; undefined if it is in no file. */
  readonly passwordFile: string | undefined
  /** Paths of files in PEM format; null if the connection is not encrypted. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | null
  readonly commit: ValueOf<'commit'>
  /** Bytes of rows of the log that are kept in memory. */
  readonly logCacheBytes: number
  readonly member: MemberSettings
}

/** Name, roles and address of a server in the cluster on its keyspace. */
export interface MemberSettings {
  /** The name of the cluster. */
  readonly cluster: string
  /**
   * frontdoor  it answers clients
   * member     it owns threads
   */
  readonly roles: ValueOf<'roles'>
  /** Address at which other members reach this one; empty: its address towards Cassandra. */
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** The secret by which members trust each other; empty: the one stored in Cassandra. */
  readonly secret: string
  /** Paths of files in PEM format; null if members do not use TLS. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string } | null
}

/** Settings that are wrong. The message has a sentence for each mistake, a line each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** Tenants by handle. Without keys there is one tenant, with the handle `local` by default. */
function hubHandles(given: ReadonlyMap<string, string>,
  auth: 'none' | 'keys'): ReadonlyMap<string, string> {
  return given.size > 0 || auth === 'keys' ? given : new Map([['local', 'local']])
}

/** Resolves the settings of a server. Throws SettingsError. */
export function resolveSettings(source: SettingsSource): Settings {
  const reader = new SettingsReader(source)
  const { config, project } = projectPlace(reader, source)
  const embedded = reader.value('store') === 'embedded'
  const reach = reachOf(reader)
  const { auth } = reach
  const inRegion = reader.isGiven('region')
  const resolved: Settings = {
    config,
    port: reader.value('port'),
    platformPort: reader.value('platformPort'),
    hubHandle: hubHandles(reader.value('hubHandle'), auth),
    portIsChosen: reader.isGiven('port'),
    ...reach,
    insecureListen: reader.value('insecureListen'),
    authTenant: reader.value('authTenant'),
    sessions: sessionSettings(reader),
    region: reader.value('region'),
    inRegion,
    regionUrls: Object.freeze(reader.value('regionUrl')),
    dataDirectory: reader.path('data') ?? join(project, '.heddle'),
    workers: reader.value('workers'),
    workerHeapMb: reader.value('workerHeapMb'),
    graphsMemoryMb: reader.value('graphsMemoryMb'),
    revisionsDiskBytes: reader.value('revisionsDiskMb') * 1024 * 1024,
    builds: (reader.value('builds') ?? (embedded ? 'on' : 'off')) === 'on',
    graphEnv: Object.freeze(reader.value('graphEnv')),
    graphConfig: reader.value('graphConfig'),
    streamEnd: reader.value('streamEnd') === 'on',
    mcp: reader.value('mcp') === 'on',
    agents: agentSettings(reader),
    appTimeoutMs: reader.value('appTimeout') * 1_000,
    drainMs: reader.value('drainMs') ?? (embedded ? 5_000 : 20_000),
    allowOrigins: Object.freeze(reader.value('allowOrigin')),
    allowHosts: Object.freeze(reader.value('allowHost')),
    deploymentsDomain: reader.value('deploymentsDomain'),
    deploymentsHosts: Object.freeze(reader.value('deploymentsHosts')),
    graphsUsers: reader.value('graphsUsers'),
    trustTenants: reader.value('trustTenants'),
    ignoreAuth: reader.value('ignoreAuth'),
    // In development, no region is set.
    limits: (reader.value('limits') ?? (inRegion ? 'on' : 'off')) === 'on',
    billing: reader.value('billing') === 'on',
    limitOverrides: reader.path('limitOverrides') ?? null,
    quotas: quotaSettings(reader, auth),
    modelQuota: Object.freeze({ calls: reader.value('quotaModelCalls') || Infinity,
      tokens: reader.value('quotaModelTokens') || Infinity }),
    trustedProxies: Object.freeze(reader.value('trustedProxies')),
    connectionsPerAddress: reader.value('connectionsPerAddress'),
    userProxies: Object.freeze(reader.value('userProxies')),
    reload: reader.value('reload'),
    secretsKey: reader.path('secretsKey') ?? null,
    egressAllow: Object.freeze(reader.value('egressAllow')),
    logLevel: reader.value('logLevel'),
    metrics: metricsSettings(reader),
    tracing: tracingSettings(source.environment, reader.mistakes),
    studio: studioSettings(reader),
    ownTraces: reader.value('ownTraces'),
    ownTracesRatio: reader.value('ownTracesRatio'),
    record: reader.value('record') ?? null,
    traces: { diskBytes: reader.value('tracesDiskMb') * 1024 * 1024,
      tenantBytes: (reader.value('quotaTracesMb') || Infinity) * 1024 * 1024,
      indexesWords: reader.value('tracesWords') === 'on' },
    cassandra: embedded ? null : cassandraSettings(reader),
  }
  const mistakes = [...reader.mistakes, ...mistakesIn(resolved)]
  if (mistakes.length > 0) throw new SettingsError(mistakes.join('\n'))
  return Object.freeze(resolved)
}

/** Path of the `langgraph.json` or its folder, and the folder of the project. */
function projectPlace(reader: SettingsReader, { folder, starter }: SettingsSource) {
  const config = reader.path('config') ?? resolve(folder, starter)
  return { config, project: extname(config) === '.json' ? dirname(config) : config }
}

/**
 * Settings of who reaches the server, and of the models that it may call on this machine: none, if
 * others reach the server or its calls leave by a proxy.
 */
function reachOf(reader: SettingsReader) {
  const auth = reader.value('auth')
  const host = reader.value('host')
  const egressProxy = reader.value('egressProxy')
  const programs = reader.value('localModels')
  const isAlone = auth === 'none' && isLoopback(host) && egressProxy === undefined
  return { auth, host, egressProxy, localModels: Object.freeze(isAlone ? programs : []) }
}

function studioSettings(reader: SettingsReader): Settings['studio'] {
  const how = reader.value('studio')
  return how === 'off' ? null : how === 'on' ? {} : { apiUrl: how }
}

function agentSettings(reader: SettingsReader): Settings['agents'] {
  if (reader.value('a2a') === 'off') return null
  return { tools: Object.freeze(reader.value('a2aTools')), key: reader.path('a2aKey') ?? null }
}

/** Without authentication there is one tenant, which may fill the disk. */
function quotaSettings(reader: SettingsReader, auth: Settings['auth']): QuotaSettings {
  const shared = (quota: number) => auth === 'none' ? 0 : quota
  const bound = (quota: number) => quota || Infinity
  return Object.freeze({
    bytes: bound(reader.value('quotaStoredMb') ?? shared(102_400)) * 1024 * 1024,
    threads: bound(reader.value('quotaThreads') ?? shared(1_000_000)),
    runs: bound(reader.value('quotaRuns')),
    delayedRuns: bound(reader.value('quotaDelayedRuns')),
    crons: bound(reader.value('quotaCrons')),
    streams: bound(reader.value('quotaStreams')),
  })
}

function metricsSettings(reader: SettingsReader): Settings['metrics'] {
  const port = reader.value('metricsPort')
  return port === undefined ? null : Object.freeze({ host: reader.value('metricsHost'), port })
}

/** Reads the standard variables of OpenTelemetry. */
function tracingSettings(environment: SettingsSource['environment'], mistakes: string[]):
  | TracingSettings
  | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces,
    OTEL_SDK_DISABLED: disabled, OTEL_TRACES_EXPORTER: exporter, OTEL_TRACES_SAMPLER: sampler,
    OTEL_TRACES_SAMPLER_ARG: share } = environment
  const isOff = disabled?.toLowerCase() === 'true' || exporter === 'none' ||
    sampler === 'always_off'
  if (!(traces || all) || isOff) return null
  if (sampler === 'parentbased_always_off') return Object.freeze({ ratio: 0 })
  if (!sampler?.endsWith('traceidratio')) return Object.freeze({ ratio: 1 })
  const ratio = Number(share || '1')
  if (ratio >= 0 && ratio <= 1) return Object.freeze({ ratio })
  mistakes.push(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${share}".`)
  return null
}

function sessionSettings(reader: SettingsReader): SessionSettings | null {
  const keys = reader.value('jwtKeys')
  if (keys === '') {
    if (reader.isGiven('jwtIssuer')) reader.required('jwtKeys', 'beside --jwt-issuer')
    return null
  }
  return Object.freeze({
    issuer: reader.required('jwtIssuer', 'beside --jwt-keys'),
    audience: reader.value('jwtAudience'),
    keys: /^https?:/.test(keys) ? keys : reader.path('jwtKeys')!,
  })
}

function cassandraSettings(reader: SettingsReader): CassandraSettings {
  const ca = reader.path('tlsCa')
  const cert = reader.path('tlsCert')
  const key = reader.path('tlsKey')
  if ((cert === undefined) !== (key === undefined)) {
    reader.mistakes.push('--tls-cert and --tls-key belong together: give both or none.')
  }
  return Object.freeze({
    contactPoints: Object.freeze(reader.value('contactPoints')),
    localDataCenter: reader.required('localDatacenter', 'with --store cassandra'),
    keyspace: reader.value('keyspace'),
    user: reader.value('cassandraUser'),
    password: reader.value('cassandraPassword'),
    passwordFile: reader.fileOf('cassandraPassword'),
    tls: ca ?? cert ?? key ? Object.freeze({ ca, cert, key }) : null,
    commit: reader.value('commit'),
    logCacheBytes: reader.value('logCacheMb') * 1024 * 1024,
    member: memberSettings(reader),
  })
}

function memberSettings(reader: SettingsReader): MemberSettings {
  const ca = reader.path('memberCa')
  const cert = reader.path('memberCert')
  const key = reader.path('memberKey')
  if ((ca ?? cert ?? key) !== undefined && !(ca && cert && key)) {
    reader.mistakes.push('--member-ca, --member-cert and --member-key belong together: give all ' +
      'three or none.')
  }
  return Object.freeze({
    cluster: reader.value('clusterName'),
    roles: Object.freeze(reader.value('roles')),
    host: reader.value('memberHost'),
    port: reader.value('memberPort'),
    secret: reader.value('clusterSecret'),
    tls: ca && cert && key ? Object.freeze({ ca, cert, key }) : null,
  })
}
