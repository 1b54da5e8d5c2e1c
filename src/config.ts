/**
 * The settings of a server: options win over the environment, the environment over defaults.
 *
 * They are resolved once, at the start; everything else gets what it needs as arguments.
 */

import { readFileSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'

import { ipRange, isLoopback } from './ip-address.ts'
import type { IpRange } from './ip-address.ts'
import { defaultWorkers, knownSettings, logLevels } from './known-settings.ts'
import type { SettingName } from './known-settings.ts'
import { regionNames } from './region.ts'
import type { RegionName } from './region.ts'

/**
 * none  nobody is asked who he is
 * keys  by an API key, or by a session where these are set up
 */
const authentications = ['none', 'keys'] as const
const stores = ['embedded', 'cassandra'] as const
/**
 * validate  a plain write, then a shared look whether this member still owns what it wrote
 * lwt       a compare-and-set for each row of the log: slower, and without any such argument
 */
const commitModes = ['validate', 'lwt'] as const
/**
 * frontdoor  it answers clients
 * member     threads live on it
 */
const roles = ['frontdoor', 'member'] as const

export interface Settings {
  /** Absolute; a langgraph.json or a folder that has one. */
  readonly config: string
  /** 0 for any that is free. */
  readonly port: number
  readonly host: string
  /** Listening where others can reach it, though there is no authentication. */
  readonly insecureListen: boolean
  readonly auth: typeof authentications[number]
  /** Null where users have no sessions. */
  readonly sessions: SessionSettings | null
  /** Where each region answers; empty where that is not known. */
  readonly regionUrls: Readonly<Record<RegionName, string>>
  /** Absolute. */
  readonly dataDirectory: string
  readonly workers: number
  readonly drainMs: number
  /** Of web pages that may call; none named: those of this machine; `*`: any. */
  readonly allowOrigins: readonly string[]
  /** Whether requests are limited. */
  readonly limits: boolean
  /** Whether a record is made of each run that is over. */
  readonly billing: boolean
  /** Absolute; null where the limits are those of the specification. */
  readonly limitOverrides: string | null
  /** Proxies that are believed about whom they speak for. */
  readonly trustedProxies: readonly IpRange[]
  /** Those that name the user and the tenant of a request, and let no one else do so. */
  readonly userProxies: readonly IpRange[]
  readonly reload: boolean
  readonly region: RegionName
  /** It was said that this is that region's deployment. */
  readonly inRegion: boolean
  /** An http(s) URL, through which others are called. */
  readonly egressProxy: string | undefined
  /** Addresses, ranges and names of hosts that may be called though they are private. */
  readonly egressAllow: readonly string[]
  readonly logLevel: typeof logLevels[number]
  /** Null where the front door tells them, to callers of this machine. */
  readonly metrics: { readonly host: string; readonly port: number } | null
  /** Null where nobody collects traces. */
  readonly tracing: TracingSettings | null
  /** Null where everything is kept in the data directory. */
  readonly cassandra: CassandraSettings | null
}

/** Where traces go, and by which headers, the exporter reads from the environment itself. */
export interface TracingSettings {
  /** Of traces that begin here, so many are kept: from 0 to 1. */
  readonly ratio: number
}

/** Signed sessions of users. */
export interface SessionSettings {
  readonly issuer: string
  /** Empty where sessions for anybody count. */
  readonly audience: string
  /** A JSON web key set: an absolute path or a URL. */
  readonly keys: string
}

/** Where threads live that outgrew one machine. */
export interface CassandraSettings {
  /** Names or addresses, with `:port` where it is not 9042. */
  readonly contactPoints: readonly string[]
  readonly localDataCenter: string
  readonly keyspace: string
  /** Empty without authentication. */
  readonly user: string
  readonly password: string
  /** Paths of files in PEM format; null where the connection is not encrypted. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | null
  readonly commit: typeof commitModes[number]
  readonly member: MemberSettings
}

/** What a server is to those that share its keyspace. */
export interface MemberSettings {
  /** The name of the cluster. */
  readonly cluster: string
  readonly roles: readonly typeof roles[number][]
  /** Where others reach this one; empty: the address that it has towards Cassandra. */
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** By which members know each other; empty: the one that is kept in Cassandra. */
  readonly secret: string
  /** Paths of files in PEM format; null where members do not speak TLS. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string } | null
}

export interface SettingsSource {
  /** What was typed, by the name of the setting; flags without a value are booleans. */
  readonly options: Readonly<Partial<Record<SettingName, string | boolean | readonly string[]>>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** What a relative path starts from. */
  readonly folder: string
  /** The project to serve where none is named. */
  readonly starter: string
}

/** What was typed cannot be followed. Its message has one sentence for each mistake. */
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
    host: reader.text('host', '127.0.0.1'),
    insecureListen: reader.yesOrNo('insecureListen', false),
    auth: reader.oneOf('auth', authentications, 'none'),
    sessions: sessionSettings(reader, source.folder),
    region: reader.oneOf('region', regionNames, 'us'),
    inRegion: reader.text('region', '') !== '',
    regionUrls: Object.freeze(reader.urlsOf('regionUrl', regionNames)),
    dataDirectory: resolve(source.folder, reader.text('data', join(project, '.heddle'))),
    workers: reader.wholeNumber('workers', { fallback: defaultWorkers, min: 1, max: 64 }),
    drainMs: reader.wholeNumber('drainMs', { fallback: drainMs, min: 0, max: 3_600_000 }),
    allowOrigins: Object.freeze(reader.origins('allowOrigin')),
    // Whoever develops names no region.
    limits: reader.oneOf('limits', ['on', 'off'],
      reader.text('region', '') === '' ? 'off' : 'on') === 'on',
    billing: reader.oneOf('billing', ['on', 'off'], 'off') === 'on',
    limitOverrides: reader.files(['limitOverrides'], source.folder)[0] ?? null,
    trustedProxies: Object.freeze(reader.ranges('trustedProxies')),
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
    cassandra: embedded ? null : cassandraSettings(reader, source.folder),
  }
  const mistakes = [...reader.mistakes, ...broken(resolved)]
  if (mistakes.length > 0) throw new SettingsError(mistakes.join('\n'))
  return Object.freeze(resolved)
}

/** By the variables that all programs share which speak OpenTelemetry. */
function tracingSettings(environment: SettingsSource['environment'], mistakes: string[]):
TracingSettings | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces,
    OTEL_SDK_DISABLED: disabled, OTEL_TRACES_SAMPLER: sampler,
    OTEL_TRACES_SAMPLER_ARG: share } = environment
  if (!(traces || all) || disabled?.toLowerCase() === 'true') return null
  if (!sampler?.endsWith('traceidratio')) return Object.freeze({ ratio: 1 })
  const ratio = Number(share || '1')
  if (ratio >= 0 && ratio <= 1) return Object.freeze({ ratio })
  mistakes.push(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${share}".`)
  return null
}

function sessionSettings(reader: SettingsReader, folder: string): SessionSettings | null {
  const keys = reader.text('jwtKeys', '')
  if (keys === '') {
    const issuer = reader.text('jwtIssuer', '')
    if (issuer !== '') reader.required('jwtKeys', 'beside --jwt-issuer')
    return null
  }
  return Object.freeze({
    issuer: reader.required('jwtIssuer', 'beside --jwt-keys'),
    audience: reader.text('jwtAudience', ''),
    keys: /^https?:/.test(keys) ? keys : resolve(folder, keys),
  })
}

function cassandraSettings(reader: SettingsReader, folder: string): CassandraSettings {
  const [ca, cert, key] = reader.files(['tlsCa', 'tlsCert', 'tlsKey'], folder)
  return Object.freeze({
    contactPoints: Object.freeze(reader.list('contactPoints', ['127.0.0.1'])),
    localDataCenter: reader.required('localDatacenter', 'with --store cassandra'),
    keyspace: reader.text('keyspace', 'heddle'),
    user: reader.text('cassandraUser', ''),
    password: reader.text('cassandraPassword', ''),
    tls: ca ?? cert ?? key ? Object.freeze({ ca, cert, key }) : null,
    commit: reader.oneOf('commit', commitModes, 'validate'),
    member: memberSettings(reader, folder),
  })
}

function memberSettings(reader: SettingsReader, folder: string): MemberSettings {
  const [ca, cert, key] = reader.files(['memberCa', 'memberCert', 'memberKey'], folder)
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
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** Relations between settings that do not hold. */
function broken({ host, insecureListen, auth, sessions, billing, region }: Settings): string[] {
  const misplaced = !billing || region === 'us' ? []
    : ['--billing on (or HEDDLE_BILLING) is for the region us, where alone billing records may ' +
      `be kept: turn it off in the region ${region}.`]
  if (auth === 'keys') return misplaced
  return [
    ...misplaced,
    ...isLoopback(host) || insecureListen ? []
      : [`--host ${host} is reached by others, and nobody is asked who he is: add --auth keys, ` +
        'or --insecure-listen if that is meant, or listen on 127.0.0.1.'],
    ...sessions === null ? [] : ['--jwt-keys count only with --auth keys: add that.'],
  ]
}

/** Reads one setting after another and collects what is wrong. */
class SettingsReader {
  readonly mistakes: string[] = []
  readonly #source: SettingsSource

  constructor(source: SettingsSource) {
    this.#source = source
  }

  text(name: SettingName, fallback: string): string {
    const given = this.#given(name)
    return typeof given === 'string' ? given : fallback
  }

  /** Empty where it is missing, which is a mistake like any other. */
  required(name: SettingName, when: string): string {
    const text = this.text(name, '')
    const { flags, variable } = knownSettings[name]
    if (text === '') this.mistakes.push(`${flags} (or ${variable}) is needed ${when}.`)
    return text
  }

  list(name: SettingName, fallback: readonly string[]): readonly string[] {
    const texts = this.text(name, '').split(',').map((text) => text.trim())
    const named = texts.filter((text) => text !== '')
    return named.length > 0 ? named : fallback
  }

  /** Paths, undefined where none is given. */
  files(names: readonly SettingName[], folder: string): (string | undefined)[] {
    return names.map((name) => this.text(name, ''))
      .map((path) => path === '' ? undefined : resolve(folder, path))
  }

  /** Some of the words; all of them unless told. */
  words<T extends string>(name: SettingName, known: readonly T[]): readonly T[] {
    const named = this.list(name, known)
    const strange = named.find((word) => !known.some((one) => one === word))
    if (strange === undefined) return known.filter((word) => named.includes(word))
    return this.#mistaken(name, strange, `must be some of ${known.join(', ')}`, known)
  }

  wholeNumber(name: SettingName, { fallback, min, max }: {
    fallback: number
    min: number
    max: number
  }): number {
    const text = this.text(name, `${fallback}`)
    const number = /^\d+$/.test(text) ? Number(text) : NaN
    if (number >= min && number <= max) return number
    return this.#mistaken(name, text, `must be a whole number from ${min} to ${max}`, fallback)
  }

  yesOrNo(name: SettingName, fallback: boolean): boolean {
    const given = this.#given(name)
    if (typeof given === 'boolean') return given
    const text = this.text(name, fallback ? 'yes' : 'no').toLowerCase()
    if (/^(yes|true|1|on)$/.test(text)) return true
    if (/^(no|false|0|off)$/.test(text)) return false
    return this.#mistaken(name, text, 'must be yes or no', fallback)
  }

  oneOf<T extends string>(name: SettingName, words: readonly T[], fallback: T): T {
    const text = this.text(name, fallback)
    return words.find((word) => word === text) ??
      this.#mistaken(name, text, `must be one of ${words.join(', ')}`, fallback)
  }

  /** Undefined where none is given. What was typed is not repeated: it may hold a password. */
  webAddress(name: SettingName): string | undefined {
    const text = this.text(name, '')
    if (text === '' || /^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text || undefined
    const { flags, variable } = knownSettings[name]
    this.mistakes.push(`${flags.split(' ')[0]} (or ${variable}) must be an http(s) URL.`)
    return undefined
  }

  ranges(name: SettingName): readonly IpRange[] {
    return this.list(name, []).flatMap((text) => {
      const range = ipRange(text)
      return range !== undefined ? [range]
        : this.#mistaken(name, text, 'must list addresses or ranges like 10.0.0.0/8', [])
    })
  }

  targets(name: SettingName): readonly string[] {
    return this.list(name, []).map((text) => isTarget(text) ? text : this.#mistaken(name, text,
      'must be addresses, ranges like 10.1.0.0/16 and names of hosts', text))
  }

  origins(name: SettingName): readonly string[] {
    const given = this.#given(name) ?? []
    const texts = Array.isArray(given) ? given as readonly string[] : `${given}`.split(',')
    return texts.map((text) => text.trim()).filter((text) => text !== '')
      .map((text) => isOrigin(text) ? text
        : this.#mistaken(name, text, 'must be an origin like https://example.org', text))
  }

  /** `us=https://…,eu=https://…`; empty for a name that is not there. */
  urlsOf<T extends string>(name: SettingName, known: readonly T[]): Record<T, string> {
    const urls = Object.fromEntries(known.map((each) => [each, ''])) as Record<T, string>
    for (const pair of this.list(name, [])) {
      const [, word, url = ''] = /^(\w+)=(https?:\/\/.+)$/.exec(pair) ?? []
      const found = known.find((each) => each === word)
      if (found !== undefined && URL.canParse(url)) urls[found] = url
      else this.#mistaken(name, pair, `must be like ${known[0]}=https://example.org`, pair)
    }
    return urls
  }

  /** What was typed, or else is in the environment; an empty text counts as none. */
  #given(name: SettingName): string | boolean | readonly string[] | undefined {
    const typed = this.#source.options[name]
    if (typed !== undefined && typed !== '') return typed
    return this.#source.environment[knownSettings[name].variable] || undefined
  }

  #mistaken<T>(name: SettingName, text: string, rule: string, fallback: T): T {
    const { flags, variable } = knownSettings[name]
    this.mistakes.push(`${flags.split(' ')[0]} (or ${variable}) ${rule}, not "${text}".`)
    return fallback
  }
}

function isTarget(text: string): boolean {
  return ipRange(text) !== undefined || /^[a-z\d-]+(\.[a-z\d-]+)*$/i.test(text)
}

function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text)
}
