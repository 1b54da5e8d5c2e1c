/**
 * The settings of a server: options win over the environment, the environment over defaults.
 *
 * They are resolved once, at the start; everything else gets what it needs as arguments.
 */

import { readFileSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'

import { isLoopback } from './ip-address.ts'
import type { IpRange } from './ip-address.ts'
import { defaultWorkers, logLevels } from './known-settings.ts'
import type { SettingName } from './known-settings.ts'
import { regionNames } from './region.ts'
import type { RegionName } from './region.ts'
import { SettingsReader } from './settings-reader.ts'
import type { SettingsSource } from './settings-reader.ts'

/**
 * none  everybody may call
 * keys  callers need an API key, or a session if these are set up
 */
const authentications = ['none', 'keys'] as const
const stores = ['embedded', 'cassandra'] as const
/**
 * validate  a plain write, then a shared read that confirms that this member still owns it
 * lwt       a compare-and-set for each row of the log: slower, and simpler to reason about
 */
const commitModes = ['validate', 'lwt'] as const
/**
 * frontdoor  it answers clients
 * member     it owns threads
 */
const roles = ['frontdoor', 'member'] as const

export interface Settings {
  /** Absolute; a langgraph.json or a folder that has one. */
  readonly config: string
  /** 0 for any that is free. */
  readonly port: number
  /** If not, the next free port will do where this one is taken. */
  readonly portIsChosen: boolean
  readonly host: string
  /** It may listen where others can reach it without authentication. */
  readonly insecureListen: boolean
  readonly auth: typeof authentications[number]
  /** Null if users have no sessions. */
  readonly sessions: SessionSettings | null
  /** The URL of each region; empty if not known. */
  readonly regionUrls: Readonly<Record<RegionName, string>>
  /** Absolute. */
  readonly dataDirectory: string
  readonly workers: number
  /** What the graphs of one worker may fill; undefined for a share of the memory that there is. */
  readonly workerHeapMb: number | undefined
  /** The variables that graphs see: names, or patterns that end with `*`. */
  readonly graphEnv: readonly string[]
  readonly drainMs: number
  /** Origins of web pages that may call; empty: those of this machine; `*`: any. */
  readonly allowOrigins: readonly string[]
  /** Names by which callers without keys may call, besides those of this machine; `*`: any. */
  readonly allowHosts: readonly string[]
  /** Whether requests are limited. */
  readonly limits: boolean
  /** Whether each finished run leaves a billing record. */
  readonly billing: boolean
  /** Absolute; null if the limits are those of the specification. */
  readonly limitOverrides: string | null
  /** What one tenant may have; Infinity for any number. */
  readonly quotas: QuotaSettings
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly IpRange[]
  /** How many connections each address may have, that of a proxy excepted. */
  readonly connectionsPerAddress: number
  /** Proxies whose x-user-id and x-tenant-id are believed. */
  readonly userProxies: readonly IpRange[]
  readonly reload: boolean
  readonly region: RegionName
  /** Whether the region was set explicitly. */
  readonly inRegion: boolean
  /** An http(s) URL: the proxy for webhooks. */
  readonly egressProxy: string | undefined
  /** Private addresses, ranges and hosts that webhooks may call. */
  readonly egressAllow: readonly string[]
  readonly logLevel: typeof logLevels[number]
  /** Null if the front door serves them, to callers on this machine. */
  readonly metrics: { readonly host: string; readonly port: number } | null
  /** Null if there is no collector. */
  readonly tracing: TracingSettings | null
  /** Null if everything is stored in the data directory. */
  readonly cassandra: CassandraSettings | null
}

/** Bounds of one tenant; Infinity for none. */
export interface QuotaSettings {
  readonly bytes: number
  readonly threads: number
  /** Unfinished ones whose time has come. */
  readonly runs: number
  readonly delayedRuns: number
  /** At one server. */
  readonly streams: number
}

/** The exporter itself reads the address and headers of the collector from the environment. */
export interface TracingSettings {
  /** The share of traces that begin here and are kept: from 0 to 1. */
  readonly ratio: number
}

/** Signed sessions of users. */
export interface SessionSettings {
  readonly issuer: string
  /** Empty if any audience is accepted. */
  readonly audience: string
  /** A JSON web key set: an absolute path or a URL. */
  readonly keys: string
}

/** How threads are stored in Cassandra. */
export interface CassandraSettings {
  /** Names or addresses, with `:port` if it is not 9042. */
  readonly contactPoints: readonly string[]
  readonly localDataCenter: string
  readonly keyspace: string
  /** Empty without authentication. */
  readonly user: string
  readonly password: string
  /** Paths of files in PEM format; null if the connection is not encrypted. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | null
  readonly commit: typeof commitModes[number]
  readonly member: MemberSettings
}

/** How a server takes part in the cluster on its keyspace. */
export interface MemberSettings {
  /** The name of the cluster. */
  readonly cluster: string
  readonly roles: readonly typeof roles[number][]
  /** Where other members reach this one; empty: its address towards Cassandra. */
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** The secret by which members trust each other; empty: the one stored in Cassandra. */
  readonly secret: string
  /** Paths of files in PEM format; null if members do not use TLS. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string } | null
}

/** The settings are wrong. The message has one sentence for each mistake. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** Throws SettingsError. */
export function resolveSettings(source: SettingsSource): Settings {
  const reader = new SettingsReader(source)
  const config = resolve(source.folder, reader.text('config', source.starter))
  const project = extname(config) === '.json' ? dirname(config) : config
  const embedded = reader.oneOf('store', stores, 'embedded') === 'embedded'
  const drainMs = embedded ? 5_000 : 20_000
  const resolved: Settings = {
    config,
    port: reader.wholeNumber('port', { fallback: 2024, min: 0, max: 65_535 }),
    portIsChosen: reader.text('port', '') !== '',
    host: reader.text('host', '127.0.0.1'),
    insecureListen: reader.yesOrNo('insecureListen', false),
    auth: reader.oneOf('auth', authentications, 'none'),
    sessions: sessionSettings(reader),
    region: reader.oneOf('region', regionNames, 'us'),
    inRegion: reader.text('region', '') !== '',
    regionUrls: Object.freeze(reader.urlsOf('regionUrl', regionNames)),
    dataDirectory: reader.path('data') ?? join(project, '.heddle'),
    workers: reader.wholeNumber('workers', { fallback: defaultWorkers, min: 1, max: 64 }),
    workerHeapMb: reader.text('workerHeapMb', '') === '' ?
      undefined
      : reader.wholeNumber('workerHeapMb', { fallback: 0, min: 64, max: 1_048_576 }),
    graphEnv: Object.freeze(reader.variables('graphEnv', ['*'])),
    drainMs: reader.wholeNumber('drainMs', { fallback: drainMs, min: 0, max: 3_600_000 }),
    allowOrigins: Object.freeze(reader.origins('allowOrigin')),
    allowHosts: Object.freeze(reader.hosts('allowHost')),
    // In development, no region is set.
    limits:
      reader.oneOf('limits', ['on', 'off'], reader.text('region', '') === '' ? 'off' : 'on') ===
        'on',
    billing: reader.oneOf('billing', ['on', 'off'], 'off') === 'on',
    limitOverrides: reader.path('limitOverrides') ?? null,
    quotas: quotaSettings(reader),
    trustedProxies: Object.freeze(reader.ranges('trustedProxies')),
    connectionsPerAddress: reader.wholeNumber('connectionsPerAddress', { fallback: 1_000, min: 1,
      max: 1_000_000 }),
    userProxies: Object.freeze(reader.ranges('userProxies')),
    reload: reader.yesOrNo('reload', true),
    egressProxy: reader.webAddress('egressProxy'),
    egressAllow: Object.freeze(reader.targets('egressAllow')),
    logLevel: reader.oneOf('logLevel', logLevels, 'info'),
    metrics: reader.text('metricsPort', '') === '' ? null : Object.freeze({
      host: reader.text('metricsHost', '127.0.0.1'),
      port: reader.wholeNumber('metricsPort', { fallback: 0, min: 0, max: 65_535 }),
    }),
    tracing: tracingSettings(source.environment, reader.mistakes),
    cassandra: embedded ? null : cassandraSettings(reader),
  }
  const mistakes = [...reader.mistakes, ...broken(resolved)]
  if (mistakes.length > 0) throw new SettingsError(mistakes.join('\n'))
  return Object.freeze(resolved)
}

/** Without authentication, nobody shares the disk with the one tenant that there is. */
function quotaSettings(reader: SettingsReader): QuotaSettings {
  const isAlone = reader.text('auth', 'none') === 'none'
  const quota = (name: SettingName, fallback: number) =>
    reader.wholeNumber(name, { fallback, min: 0, max: 1_000_000_000 }) || Infinity
  return Object.freeze({
    bytes: quota('quotaStoredMb', isAlone ? 0 : 102_400) * 1024 * 1024,
    threads: quota('quotaThreads', isAlone ? 0 : 1_000_000),
    runs: quota('quotaRuns', 10_000),
    delayedRuns: quota('quotaDelayedRuns', 100_000),
    streams: quota('quotaStreams', 5_000),
  })
}

/** From the standard variables of OpenTelemetry. */
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
  const keys = reader.text('jwtKeys', '')
  if (keys === '') {
    const issuer = reader.text('jwtIssuer', '')
    if (issuer !== '') reader.required('jwtKeys', 'beside --jwt-issuer')
    return null
  }
  return Object.freeze({
    issuer: reader.required('jwtIssuer', 'beside --jwt-keys'),
    audience: reader.text('jwtAudience', ''),
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
    contactPoints: Object.freeze(reader.list('contactPoints', ['127.0.0.1'])),
    localDataCenter: reader.required('localDatacenter', 'with --store cassandra'),
    keyspace: reader.text('keyspace', 'heddle'),
    user: reader.text('cassandraUser', ''),
    password: reader.text('cassandraPassword', ''),
    tls: ca ?? cert ?? key ? Object.freeze({ ca, cert, key }) : null,
    commit: reader.oneOf('commit', commitModes, 'validate'),
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
    cluster: reader.text('clusterName', 'heddle'),
    roles: Object.freeze(reader.words('roles', roles)),
    host: reader.text('memberHost', ''),
    port: reader.wholeNumber('memberPort', { fallback: 0, min: 0, max: 65_535 }),
    secret: reader.text('clusterSecret', ''),
    tls: ca && cert && key ? Object.freeze({ ca, cert, key }) : null,
  })
}

/** Of this server, as package.json has it. */
export function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** Mistakes in how settings go together. */
function broken({ host, insecureListen, auth, sessions, billing, region }: Settings): string[] {
  const mistakes: string[] = []
  if (billing && region !== 'us') {
    mistakes.push('--billing on (or HEDDLE_BILLING) is for the region us, where alone billing ' +
      `records may be kept: turn it off in the region ${region}.`)
  }
  if (auth === 'none' && !isLoopback(host) && !insecureListen) {
    mistakes.push(`--host ${host} is reached by others, and callers need no key: add ` +
      '--auth keys, or --insecure-listen if that is meant, or listen on 127.0.0.1.')
  }
  if (auth === 'none' && sessions !== null) {
    mistakes.push('--jwt-keys count only with --auth keys: add that.')
  }
  return mistakes
}
