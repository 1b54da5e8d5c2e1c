/**
 * The settings of a server: options win over the environment, the environment over defaults.
 *
 * They are resolved once, at the start; everything else gets what it needs as arguments.
 */

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import { isIPv4 } from 'node:net'

const stores = ['embedded', 'cassandra'] as const
/**
 * validate  a plain write, then a shared look whether this member still owns what it wrote
 * lwt       a compare-and-set for each row of the log: slower, and without any such argument
 */
const commitModes = ['validate', 'lwt'] as const
const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export interface Settings {
  /** Absolute; a langgraph.json or a folder that has one. */
  readonly config: string
  /** 0 for any that is free. */
  readonly port: number
  readonly host: string
  /** Listening where others can reach it, though there is no authentication. */
  readonly insecureListen: boolean
  /** Absolute. */
  readonly dataDirectory: string
  readonly workers: number
  readonly drainMs: number
  /** Of web pages that may call; none named: those of this machine; `*`: any. */
  readonly allowOrigins: readonly string[]
  readonly reload: boolean
  readonly logLevel: typeof logLevels[number]
  /** Null where everything is kept in the data directory. */
  readonly cassandra: CassandraSettings | null
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
  /** Where other members reach this one; empty: the address that it has towards Cassandra. */
  readonly memberHost: string
}

/** How a setting is given: as text by a flag or a variable. */
export interface Setting {
  readonly flags: string
  readonly variable: string
  readonly sentence: string
}

/** Two: a graph that spins must leave a worker to the others. Eight: each takes its memory. */
const defaultWorkers = Math.min(Math.max(availableParallelism(), 2), 8)

/** Every setting there is: how it is given, and what it does. */
export const knownSettings = {
  config: {
    flags: '--config <path>',
    variable: 'HEDDLE_CONFIG',
    sentence: 'The langgraph.json to serve, or its folder (default: the starter project).',
  },
  port: {
    flags: '--port <number>',
    variable: 'PORT',
    sentence: 'Where to listen; 0 takes any port that is free (default: 2024).',
  },
  host: {
    flags: '--host <address>',
    variable: 'HEDDLE_HOST',
    sentence: 'The address to listen on (default: 127.0.0.1).',
  },
  insecureListen: {
    flags: '--insecure-listen',
    variable: 'HEDDLE_INSECURE_LISTEN',
    sentence: 'Listen on an address that others can reach: whoever reaches it may do everything.',
  },
  data: {
    flags: '--data <folder>',
    variable: 'HEDDLE_DATA_DIR',
    sentence: 'Where everything is kept (default: .heddle in the folder of the project).',
  },
  workers: {
    flags: '--workers <number>',
    variable: 'HEDDLE_WORKERS',
    sentence: `How many worker threads run graphs (default here: ${defaultWorkers}).`,
  },
  drainMs: {
    flags: '--drain-ms <ms>',
    variable: 'HEDDLE_DRAIN_MS',
    sentence: 'How long ending may take; runs cut short resume at the next start (default: 5000).',
  },
  allowOrigin: {
    flags: '--allow-origin <origin...>',
    variable: 'HEDDLE_ALLOW_ORIGIN',
    sentence: 'Web pages that may call, * for all (default: those of this machine).',
  },
  reload: {
    flags: '--no-reload',
    variable: 'HEDDLE_RELOAD',
    sentence: 'Do not load the project anew when one of its files changes.',
  },
  store: {
    flags: '--store <kind>',
    variable: 'HEDDLE_STORE',
    sentence: 'Where threads are kept: embedded (in the data folder) or cassandra ' +
      '(default: embedded).',
  },
  contactPoints: {
    flags: '--contact-points <addresses>',
    variable: 'HEDDLE_CONTACT_POINTS',
    sentence: 'Nodes of Cassandra to ask first: a,b,c (default: 127.0.0.1).',
  },
  localDatacenter: {
    flags: '--local-datacenter <name>',
    variable: 'HEDDLE_LOCAL_DATACENTER',
    sentence: 'The data center of Cassandra that this server belongs to.',
  },
  keyspace: {
    flags: '--keyspace <name>',
    variable: 'HEDDLE_KEYSPACE',
    sentence: 'The keyspace of the data; <name>_control stands beside it (default: heddle).',
  },
  cassandraUser: {
    flags: '--cassandra-user <name>',
    variable: 'HEDDLE_CASSANDRA_USER',
    sentence: 'Who this server is to Cassandra (default: nobody).',
  },
  cassandraPassword: {
    flags: '--cassandra-password <text>',
    variable: 'HEDDLE_CASSANDRA_PASSWORD',
    sentence: 'Better given by the variable: others can read what was typed.',
  },
  tlsCa: {
    flags: '--tls-ca <file>',
    variable: 'HEDDLE_TLS_CA',
    sentence: 'Encrypt the connection to Cassandra; its certificate was signed by this one (PEM).',
  },
  tlsCert: {
    flags: '--tls-cert <file>',
    variable: 'HEDDLE_TLS_CERT',
    sentence: 'The certificate that this server shows to Cassandra (PEM).',
  },
  tlsKey: {
    flags: '--tls-key <file>',
    variable: 'HEDDLE_TLS_KEY',
    sentence: 'The private key of that certificate (PEM).',
  },
  commit: {
    flags: '--commit <mode>',
    variable: 'HEDDLE_COMMIT',
    sentence: 'How rows of the log are committed: validate, or lwt, which is slower ' +
      '(default: validate).',
  },
  memberHost: {
    flags: '--member-host <address>',
    variable: 'HEDDLE_MEMBER_HOST',
    sentence: 'Where other members reach this one (default: its address towards Cassandra).',
  },
  logLevel: {
    flags: '--log-level <level>',
    variable: 'HEDDLE_LOG_LEVEL',
    sentence: `The least that is logged: ${logLevels.join(', ')} (default: info).`,
  },
} as const satisfies Record<string, Setting>

type SettingName = keyof typeof knownSettings

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
  const resolved: Settings = {
    config,
    port: reader.wholeNumber('port', { fallback: 2024, min: 0, max: 65_535 }),
    host: reader.text('host', '127.0.0.1'),
    insecureListen: reader.yesOrNo('insecureListen', false),
    dataDirectory: resolve(source.folder, reader.text('data', join(project, '.heddle'))),
    workers: reader.wholeNumber('workers', { fallback: defaultWorkers, min: 1, max: 64 }),
    drainMs: reader.wholeNumber('drainMs', { fallback: 5_000, min: 0, max: 3_600_000 }),
    allowOrigins: Object.freeze(reader.origins('allowOrigin')),
    reload: reader.yesOrNo('reload', true),
    logLevel: reader.oneOf('logLevel', logLevels, 'info'),
    cassandra: reader.oneOf('store', stores, 'embedded') === 'embedded' ? null
      : cassandraSettings(reader, source.folder),
  }
  const mistakes = [...reader.mistakes, ...broken(resolved)]
  if (mistakes.length > 0) throw new SettingsError(mistakes.join('\n'))
  return Object.freeze(resolved)
}

function cassandraSettings(reader: SettingsReader, folder: string): CassandraSettings {
  const file = (name: 'tlsCa' | 'tlsCert' | 'tlsKey') => {
    const path = reader.text(name, '')
    return path === '' ? undefined : resolve(folder, path)
  }
  const [ca, cert, key] = [file('tlsCa'), file('tlsCert'), file('tlsKey')]
  return Object.freeze({
    contactPoints: Object.freeze(reader.list('contactPoints', ['127.0.0.1'])),
    localDataCenter: reader.required('localDatacenter', 'with --store cassandra'),
    keyspace: reader.text('keyspace', 'heddle'),
    user: reader.text('cassandraUser', ''),
    password: reader.text('cassandraPassword', ''),
    tls: ca ?? cert ?? key ? Object.freeze({ ca, cert, key }) : null,
    commit: reader.oneOf('commit', commitModes, 'validate'),
    memberHost: reader.text('memberHost', ''),
  })
}

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') ||
    host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
}

/** Of this server, as package.json has it. */
export function ownVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** Relations between settings that do not hold. */
function broken({ host, insecureListen }: Settings): string[] {
  if (isLoopback(host) || insecureListen) return []
  return [`--host ${host} is reached by others, and there is no authentication yet: add ` +
    '--insecure-listen if that is meant, or listen on 127.0.0.1.']
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

  origins(name: SettingName): readonly string[] {
    const given = this.#given(name) ?? []
    const texts = Array.isArray(given) ? given as readonly string[] : `${given}`.split(',')
    return texts.map((text) => text.trim()).filter((text) => text !== '')
      .map((text) => isOrigin(text) ? text
        : this.#mistaken(name, text, 'must be an origin like https://example.org', text))
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

function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text)
}
